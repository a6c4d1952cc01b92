/** One server-sent event with the name of its `event:` line. */
export interface NamedEvent {
  id?: string
  event?: string
  data: Record<string, unknown>
}

/** Reads a stream event by event; comments are skipped. */
export async function* namedEvents(response: Response): AsyncGenerator<NamedEvent> {
  if (response.body === null) throw new Error('the answer has no body')
  let buffer = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    buffer += chunk
    for (let end = buffer.indexOf('\n\n'); end >= 0; end = buffer.indexOf('\n\n')) {
      const fields = new Map(buffer.slice(0, end).split('\n').map(field))
      buffer = buffer.slice(end + 2)
      const [id, event, data] = ['id', 'event', 'data'].map((name) => fields.get(name))
      if (data === undefined) continue
      yield {
        ...(id === undefined ? {} : { id }),
        ...(event === undefined ? {} : { event }),
        data: JSON.parse(data),
      }
    }
  }
  if (buffer !== '') throw new Error(`the stream broke off in ${JSON.stringify(buffer)}`)
}

/** All that is left, or all up to and including the first event of that name. */
export async function takeEvents(events: AsyncGenerator<NamedEvent>, last?: string): Promise<NamedEvent[]> {
  const taken: NamedEvent[] = []
  for (let next = await events.next(); !next.done; next = await events.next()) {
    taken.push(next.value)
    if (next.value.event === last) break
  }
  return taken
}

function field(line: string): [string, string] {
  const colon = line.indexOf(': ')
  if (colon < 0) throw new Error(`an unexpected line: ${JSON.stringify(line)}`)
  return [line.slice(0, colon), line.slice(colon + 2)]
}
