/** UTC, ISO 8601 with milliseconds and `Z`: how every door prints a time. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()
