void box27(const float *u, float *un, int nx, int ny, int nz)
{
  int columns = ((nx + 31) / 32) * ((ny + 7) / 8);
  int chunk = @CHUNK@;
  while (chunk > 2 && columns * ((nz + chunk - 1) / chunk) < 264) chunk /= 2;
  box27_kernel<<<dim3((nx + 31) / 32, (ny + 7) / 8, (nz + chunk - 1) / chunk), dim3(32, 8)>>>(u, un, nx, ny, nz, chunk);
}
