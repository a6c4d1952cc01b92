/** The media type of AG-UI's binary binding. Any parameter behind it makes the clients read it as SSE. */
export const PROTOBUF_TYPE = 'application/vnd.ag-ui.event+proto'

/**
 * Whether an Accept header asks for protobuf. Only its name with q > 0 does: a wildcard is what curl and browsers send,
 * and their users want to read what comes.
 */
export function wantsProtobuf(accept: string | undefined): boolean {
  if (accept === undefined) return false
  return accept.split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return type === PROTOBUF_TYPE && quality(parameters) > 0
  })
}

function quality(parameters: readonly string[]): number {
  const q = parameters.find((parameter) => /^q\s*=/.test(parameter))
  if (q === undefined) return 1
  const value = Number(q.slice(q.indexOf('=') + 1))
  return Number.isNaN(value) ? 1 : value
}
