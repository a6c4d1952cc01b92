type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** Seconds the server asks to wait, from `retry-after-ms` or `retry-after` (seconds or a date); undefined when it does not. */
export function retryAfterSeconds(headers: Headers, now: number): number | undefined {
  const ms = numberOf(headers['retry-after-ms'])
  if (ms !== undefined) return ms / 1000
  const seconds = numberOf(headers['retry-after'])
  if (seconds !== undefined) return seconds
  const header = headers['retry-after']
  if (typeof header !== 'string') return undefined
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, (at - now) / 1000)
}

function numberOf(header: Headers[string]): number | undefined {
  if (typeof header !== 'string' || header.trim() === '') return undefined
  const number = Number(header)
  return Number.isFinite(number) && number >= 0 ? number : undefined
}
