/** The zone of the person at the terminal. Lists and cards say it once. */
export const localZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone

/** `2026-11-15 09:04:10` on the clock of the person at the terminal. Programs get UTC: what `--json` prints never passes here. */
export function localTime(at: string | number, timeZone: string = localZone()): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return '?'
  // The Swedish way to write a time is that of ISO 8601.
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(date)
}

/** The same, without seconds. */
export const localMinute = (at: string | number): string => localTime(at).slice(0, 16)
