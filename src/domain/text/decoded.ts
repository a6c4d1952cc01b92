/** The text of a percent-encoded part of a URL. One that is not encoded correctly stays as it is. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
