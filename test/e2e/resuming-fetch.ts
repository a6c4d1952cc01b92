/**
 * A fetch whose connection breaks after every `frames` events and resumes with `Last-Event-ID`, as a client with stream resumption
 * does. Its caller sees one unbroken stream.
 */
export function createResumingFetch(frames: number, onResume: () => void) {
  return async (url: string, init: RequestInit): Promise<Response> => {
    const first = await fetch(url, init)
    return new Response(ReadableStream.from(resumed(first, url, init, frames, onResume)), {
      status: first.status,
      headers: first.headers,
    })
  }
}

async function* resumed(first: Response, url: string, init: RequestInit, frames: number, onResume: () => void) {
  let response = first
  for (let lastId: string | null = null; ; ) {
    const { chunk, ended, id } = await readFrames(response, frames)
    yield chunk
    lastId = id ?? lastId
    if (ended || lastId === null) return
    onResume()
    const headers = new Headers(init.headers)
    headers.set('Last-Event-ID', lastId)
    response = await fetch(url, { ...init, headers })
    if (!response.ok) throw new Error(`could not resume behind ${lastId}: ${response.status}`)
  }
}

async function readFrames(response: Response, frames: number) {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let text = ''
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    const blocks = text.split('\n\n').slice(0, -1)
    const ends = blocks.flatMap((block, i) => (block.includes('data: ') ? [i] : []))
    const last = ends[frames - 1]
    if (last !== undefined) {
      const taken = blocks.slice(0, last + 1)
      const ended = /"type":"RUN_(FINISHED|ERROR)"/.test(taken.at(-1) ?? '')
      return { chunk: encoder.encode(`${taken.join('\n\n')}\n\n`), ended, id: idOf(taken) }
    }
  }
  return { chunk: encoder.encode(text), ended: true, id: null }
}

const idOf = (blocks: string[]): string | null => /^id: (.*)$/m.exec(blocks.at(-1) ?? '')?.[1] ?? null
