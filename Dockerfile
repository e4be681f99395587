# The daemon with everything that it needs except a driver: both programs and their libraries, NVRTC and CUPTI with the
# headers that kernels include, and g++, because launchers are compiled by the host's compiler and recorded.
#
#   docker build --tag warpwright .
#   docker run --gpus all --volume warpwright:/var/lib/warpwright --volume "$PWD/config.yml:/etc/warpwright/config.yml:ro" \
#     --volume "$PWD/credentials:/run/credentials:ro" --env CREDENTIALS_DIRECTORY=/run/credentials --publish 8420:8420 warpwright
ARG CUDA_VERSION=13.0.1

FROM debian:12.12-slim AS build
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates patchelf python3 python3-pip \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY script/bootstrap script/bootstrap
RUN script/bootstrap --cuda-from-pypi && rm -rf /var/lib/apt/lists/*
COPY . .
ARG WW_ACTION_REFERENCE=""
RUN WW_ACTION_REFERENCE="$WW_ACTION_REFERENCE" script/package --folder /opt/warpwright \
    && cp --recursive .cuda /opt/warpwright/cuda

FROM nvidia/cuda:${CUDA_VERSION}-base-ubuntu24.04 AS runtime
LABEL org.opencontainers.image.title="warpwright" \
      org.opencontainers.image.description="Optimizes the CUDA kernels of git repositories, verifies every candidate, opens pull requests" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates curl g++ git openssh-client tzdata \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 8420 --home-dir /var/lib/warpwright --create-home --shell /usr/sbin/nologin warpwright
COPY --from=build /opt/warpwright /opt/warpwright
ENV PATH="/opt/warpwright/bin:${PATH}" \
    CUDA_HOME="/opt/warpwright/cuda" \
    XDG_CACHE_HOME="/var/lib/warpwright/cache" \
    NVIDIA_VISIBLE_DEVICES="all" \
    NVIDIA_DRIVER_CAPABILITIES="compute,utility"
USER warpwright
WORKDIR /var/lib/warpwright
VOLUME ["/var/lib/warpwright"]
# Webhooks. The status page, /metrics and /healthz stay on the container's loopback unless configured otherwise.
EXPOSE 8420
STOPSIGNAL SIGTERM
# If `listen.status` of the configuration is a different address, pass `docker run --health-cmd`.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 CMD ["curl", "--fail", "--silent", "--output", "/dev/null", "http://127.0.0.1:8421/healthz"]
ENTRYPOINT ["warpwright"]
CMD ["serve", "--config", "/etc/warpwright/config.yml"]
