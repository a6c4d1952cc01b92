export interface Frame {
  id?: string
  data: string
}

/** Reads a stream of server-sent events frame by frame. Strict: a line it does not expect fails the test. */
export interface SseReader {
  /** The next frame; null at the end of the stream. Comments are skipped. */
  next(): Promise<Frame | null>
  /** Frames up to and including the first whose data contains `part`. */
  until(part: string): Promise<Frame[]>
  /** All that is left. */
  rest(): Promise<Frame[]>
  close(): Promise<void>
}

export function readSse(response: Response): SseReader {
  if (response.body === null) throw new Error('the answer has no body')
  const chunks = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let buffer = ''
  let ended = false

  async function next(): Promise<Frame | null> {
    for (;;) {
      const end = buffer.indexOf('\n\n')
      if (end >= 0) {
        const block = buffer.slice(0, end)
        buffer = buffer.slice(end + 2)
        const frame = parse(block)
        if (frame !== null) return frame
      } else if (ended) {
        if (buffer !== '') throw new Error(`the stream broke off in ${JSON.stringify(buffer)}`)
        return null
      } else {
        const { done, value } = await chunks.read()
        ended = done
        buffer += value ?? ''
      }
    }
  }

  async function collect(isLast: (frame: Frame) => boolean): Promise<Frame[]> {
    const frames: Frame[] = []
    for (let frame = await next(); frame !== null; frame = await next()) {
      frames.push(frame)
      if (isLast(frame)) break
    }
    return frames
  }

  return {
    next,
    until: (part) => collect(({ data }) => data.includes(part)),
    rest: () => collect(() => false),
    close: () => chunks.cancel(),
  }
}

function parse(block: string): Frame | null {
  const frame: Partial<Frame> = {}
  for (const line of block.split('\n')) {
    const [, field, value = ''] = /^(id|data): (.*)$/.exec(line) ?? []
    if (field === 'id' || field === 'data') frame[field] = value
    else if (!line.startsWith(':')) throw new Error(`an unexpected line: ${JSON.stringify(line)}`)
  }
  const { id, data } = frame
  if (data === undefined) return null
  return id === undefined ? { data } : { id, data }
}
