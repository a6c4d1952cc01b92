/** The header that leads to the next page of a list: its address with another `before`. */
export function nextLink(path: string, query: URLSearchParams, next: string | null): Record<string, string> {
  if (next === null) return {}
  const parameters = new URLSearchParams(query)
  parameters.set('before', next)
  return { Link: `<${path}?${parameters}>; rel="next"` }
}
