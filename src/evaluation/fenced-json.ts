/** The JSON that a model wrote, bare or between code fences; null when the text is not JSON. */
export function parseFencedJson(text: string): { json: unknown } | null {
  const [, fenced] = /^```(?:json)?\s*\n([\s\S]*)\n\s*```$/.exec(text.trim()) ?? []
  try {
    return { json: JSON.parse(fenced ?? text) }
  } catch {
    return null
  }
}
