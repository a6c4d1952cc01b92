import { expect, test } from 'vitest'
import { createSystemClock } from '../domain/clock.ts'
import { createAcceptingModel } from './accepting.ts'
import type { ModelMessage, ModelRequest } from './model.ts'
import { createScriptedModel } from './scripted/scripted.ts'
import { collect, emptyRequest } from './testing/fixtures.ts'

const picture = { type: 'image', mimeType: 'image/png', data: 'aGk=', name: 'a.png', tokens: 1_500 } as const
const report = { type: 'document', mimeType: 'application/pdf', data: 'aGk=', name: 'b.pdf', tokens: 2_000 } as const

const messages: ModelMessage[] = [
  { role: 'user', content: 'Look.', attachments: [picture, report] },
  { role: 'assistant', content: 'Fine.', toolCalls: [] },
  { role: 'user', content: '', attachments: [picture] },
]

async function told(input: ('text' | 'image' | 'pdf')[]): Promise<readonly ModelMessage[]> {
  const seen: ModelRequest[] = []
  const model = createScriptedModel({
    answers: [{ parts: [{ text: 'ok' }] }],
    clock: createSystemClock(),
    onRequest: (request) => seen.push(request),
  })
  await collect(createAcceptingModel(model, input).stream({ ...emptyRequest, messages }, new AbortController().signal))
  return seen[0]?.messages ?? []
}

test('a model that takes everything is given everything', async () => {
  expect(await told(['text', 'image', 'pdf'])).toEqual(messages)
})

test('a model reads in place of an attachment that it does not take that there was one', async () => {
  expect(await told(['text', 'image'])).toEqual([
    {
      role: 'user',
      content: 'Look.\n\n[document: b.pdf is not shown: this model takes no such files.]',
      attachments: [picture],
    },
    messages[1],
    messages[2],
  ])
  expect((await told([])).at(-1)).toEqual({
    role: 'user',
    content: '[image: a.png is not shown: this model takes no such files.]',
  })
})
