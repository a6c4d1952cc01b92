// The only place that writes server-sent events.

export interface SseEvent {
  id?: string
  event?: string
  data: string
}

/** Uses LF only. Data with line breaks becomes several `data:` lines, and the reader joins them with LF. */
export function sseFrame({ id, event, data }: SseEvent): string {
  let head = ''
  if (id !== undefined) head = `id: ${oneLine(id)}\n`
  if (event !== undefined) head += `event: ${oneLine(event)}\n`
  return `${head}data: ${data.includes('\n') || data.includes('\r') ? dataLines(data) : data}\n\n`
}

export const sseComment = (text: string): string => `: ${oneLine(text)}\n\n`

const dataLines = (data: string): string => data.split(/\r\n|\r|\n/).join('\ndata: ')

// A line break would let the author of the text add fields. A NUL makes readers ignore the id.
function oneLine(text: string): string {
  if (/[\r\n\0]/.test(text)) throw new Error('an SSE field contains a line break or NUL')
  return text
}
