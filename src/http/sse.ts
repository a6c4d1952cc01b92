// The one place that writes server-sent events.

export interface SseEvent {
  id?: string
  event?: string
  data: string
}

/** LF only. Data with line breaks becomes several `data:` lines, which a reader joins again with LF. */
export function sseFrame({ id, event, data }: SseEvent): string {
  let head = ''
  if (id !== undefined) head = `id: ${oneLine(id)}\n`
  if (event !== undefined) head += `event: ${oneLine(event)}\n`
  return `${head}data: ${data.includes('\n') || data.includes('\r') ? dataLines(data) : data}\n\n`
}

export const sseComment = (text: string): string => `: ${oneLine(text)}\n\n`

const dataLines = (data: string): string => data.split(/\r\n|\r|\n/).join('\ndata: ')

// A line break here would let whoever chose the text write fields of its own; a NUL makes readers ignore an id.
function oneLine(text: string): string {
  if (/[\r\n\0]/.test(text)) throw new Error('an SSE field holds a line break or NUL')
  return text
}
