// The bytes of a streamed OpenAI-style chat completion, with the same fields and order of keys as the real one.

import { tokenText } from './token.ts'

const MODEL = 'fake'
const HEAD = `data: {"id":"chatcmpl-bench0000000000000000000000000","object":"chat.completion.chunk","created":1763164800,"model":"${MODEL}","service_tier":"default","system_fingerprint":"fp_bench00000","choices":`

export const FIRST_CHUNK = `${HEAD}[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}\n\n`

export const tokenChunk = (index: number, sentAt: number): string =>
  `${HEAD}[{"index":0,"delta":{"content":"${tokenText(index, sentAt)}"},"logprobs":null,"finish_reason":null}],"usage":null}\n\n`

/** What follows the last token: finish reason, usage, end. */
export const lastChunks = (tokens: number): string =>
  `${HEAD}[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}\n\n` +
  `${HEAD}[],"usage":{"prompt_tokens":12,"completion_tokens":${tokens},"total_tokens":${tokens + 12}}}\n\n` +
  'data: [DONE]\n\n'

/** The whole answer without times, as `pieces` writes of whole events. */
export function answerPieces(tokens: number, pieces: number): Buffer[] {
  const events = [
    FIRST_CHUNK,
    ...Array.from({ length: tokens }, (_, index) => tokenChunk(index, 0)),
    lastChunks(tokens),
  ]
  const size = Math.ceil(events.length / pieces)
  const cut: Buffer[] = []
  for (let at = 0; at < events.length; at += size) cut.push(Buffer.from(events.slice(at, at + size).join('')))
  return cut
}

/** The same answer for a client that did not ask for a stream. */
export function wholeAnswer(tokens: number): string {
  const content = Array.from({ length: tokens }, (_, index) => tokenText(index, 0)).join('')
  return JSON.stringify({
    id: 'chatcmpl-bench0000000000000000000000000',
    object: 'chat.completion',
    created: 1763164800,
    model: MODEL,
    choices: [{ index: 0, message: { role: 'assistant', content, refusal: null }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 12, completion_tokens: tokens, total_tokens: tokens + 12 },
  })
}
