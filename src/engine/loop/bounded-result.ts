/**
 * A tool's result as it is stored and as the model sees it. A longer one is cut and says so. `isCut`: the tool has cut it already.
 * Half a character at the cut becomes U+FFFD, because models refuse every request with one in its history.
 */
export function boundedResult(content: string, limit: number, isCut = false): string {
  const whole = content.slice(0, limit).toWellFormed()
  if (isCut) return `${whole}\n[The result was cut here: ${limit} characters are shown, and there are more.]`
  if (content.length <= limit) return whole
  return `${whole}\n[The result was cut here: ${limit} of ${content.length} characters are shown.]`
}
