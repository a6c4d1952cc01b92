/** `812 B`, `1.5 kB`, `3.2 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  const [size, unit] = bytes < 999_500 ? [bytes / 1_000, 'kB'] : [bytes / 1_000_000, 'MB']
  return `${size.toFixed(size < 10 ? 1 : 0)} ${unit}`
}
