/** A tool's result as it is kept and as the model sees it: what is longer is cut and says so. `isCut`: the tool cut it already. */
export function boundedResult(content: string, limit: number, isCut = false): string {
  if (isCut)
    return `${content.slice(0, limit)}\n[The result was cut here: ${limit} characters are shown, and there are more.]`
  if (content.length <= limit) return content
  return `${content.slice(0, limit)}\n[The result was cut here: ${limit} of ${content.length} characters are shown.]`
}
