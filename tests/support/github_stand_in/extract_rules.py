#!/usr/bin/env python3
"""Extracts from GitHub's OpenAPI description what the stand-in checks requests against.

    npm pack @octokit/openapi && tar xzf octokit-openapi-*.tgz
    tests/support/github_stand_in/extract_rules.py package > tests/support/github_stand_in/rules.json

For each operation that warpwright uses: method, path, query parameters, the body's properties with types, enums and
limits, and the names of the properties that a response may have at its first level. Descriptions and examples are left
out.
"""
import json
import pathlib
import sys

R = "/repos/{owner}/{repo}"
OPERATIONS = [
    ("get", "/app"),
    ("post", "/app/installations/{installation_id}/access_tokens"),
    ("get", "/rate_limit"),
    ("get", "/user"),
    ("get", "/users/{username}"),
    ("get", R),
    ("get", R + "/collaborators/{username}/permission"),
    ("get", R + "/installation"),
    ("get", R + "/pulls"),
    ("post", R + "/pulls"),
    ("get", R + "/pulls/{pull_number}"),
    ("patch", R + "/pulls/{pull_number}"),
    ("post", R + "/pulls/{pull_number}/requested_reviewers"),
    ("get", R + "/issues"),
    ("post", R + "/issues"),
    ("get", R + "/issues/{issue_number}"),
    ("patch", R + "/issues/{issue_number}"),
    ("get", R + "/issues/{issue_number}/events"),
    ("post", R + "/issues/{issue_number}/labels"),
    ("get", R + "/issues/{issue_number}/comments"),
    ("post", R + "/issues/{issue_number}/comments"),
    ("get", R + "/issues/comments/{comment_id}"),
    ("patch", R + "/issues/comments/{comment_id}"),
    ("get", R + "/issues/comments/{comment_id}/reactions"),
    ("post", R + "/issues/comments/{comment_id}/reactions"),
    ("post", R + "/check-runs"),
    ("get", R + "/check-runs/{check_run_id}"),
    ("patch", R + "/check-runs/{check_run_id}"),
    ("get", R + "/commits/{ref}/check-runs"),
    ("get", R + "/commits/{ref}/statuses"),
    ("post", R + "/statuses/{sha}"),
]
KEPT = ("type", "enum", "required", "minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum", "nullable")


def trim(schema):
    """A JSON schema without its prose."""
    if not isinstance(schema, dict):
        return {}
    out = {key: schema[key] for key in KEPT if key in schema}
    if "properties" in schema:
        out["properties"] = {name: trim(value) for name, value in sorted(schema["properties"].items())}
    if "items" in schema:
        out["items"] = trim(schema["items"])
    for key in ("oneOf", "anyOf", "allOf"):
        if key in schema:
            out[key] = [trim(value) for value in schema[key]]
    if schema.get("additionalProperties", False) is not False:
        out["additionalProperties"] = True
    return out


def names(schema):
    """Property names at the first level of a response, or of an array's elements."""
    if not isinstance(schema, dict):
        return set()
    found = set(schema.get("properties", {}))
    if schema.get("type") == "array":
        found |= names(schema.get("items"))
    for key in ("oneOf", "anyOf", "allOf"):
        for value in schema.get(key, []):
            found |= names(value)
    return found


def extract(description, method, path):
    operation = description["paths"][path][method]
    out = {"method": method.upper(), "path": path, "query": {}}
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "query":
            out["query"][parameter["name"]] = trim(parameter.get("schema", {}))
    body = operation.get("requestBody")
    if body:
        out["body"] = trim(body["content"]["application/json"]["schema"])
    answers = {}
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
            answers[status] = sorted(names(schema))
    out["answers"] = answers
    return out


def main():
    package = pathlib.Path(sys.argv[1])
    version = json.loads((package / "package.json").read_text())["version"]
    description = json.loads((package / "generated/api.github.com.deref.json").read_text())
    print('{"source": "@octokit/openapi %s, api.github.com", "operations": [' % version)
    lines = [json.dumps(extract(description, method, path), separators=(",", ":")) for method, path in OPERATIONS]
    print(",\n".join(lines))
    print("]}")


if __name__ == "__main__":
    main()
