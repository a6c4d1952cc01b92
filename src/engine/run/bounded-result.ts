/**
 * A tool's result as it is kept and as the model sees it: what is longer is cut and says so. `isCut`: the tool cut it already.
 * Half a character, whoever cut it there, becomes U+FFFD: models refuse a conversation with one in it, now and ever after.
 */
export function boundedResult(content: string, limit: number, isCut = false): string {
  const whole = content.slice(0, limit).toWellFormed()
  if (isCut) return `${whole}\n[The result was cut here: ${limit} characters are shown, and there are more.]`
  if (content.length <= limit) return whole
  return `${whole}\n[The result was cut here: ${limit} of ${content.length} characters are shown.]`
}
