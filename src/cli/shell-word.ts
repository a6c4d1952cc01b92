/** A text in quotes, as one word of sh, bash, zsh and fish. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** A word that the shell of this system reads as this text. In quotes only where it needs them. */
export function shellWord(text: string, platform = process.platform): string {
  if (/^[\w@%+=:,./\\-]+$/.test(text)) return text
  return platform === 'win32' ? `"${text}"` : shellQuoted(text)
}
