/** The code of a system error, such as `ENOENT`. Empty if the error has none. */
export const systemErrorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
