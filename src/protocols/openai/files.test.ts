import { describe, expect, test } from 'vitest'
import type { ModelRequest } from '../../models/model.ts'
import { base64, PNG } from '../testing/open-engine-with-files.ts'
import { CHAT, openOpenAi, RESPONSES } from './testing/open-openai.ts'

async function open() {
  const requests: ModelRequest[] = []
  const door = await openOpenAi({ onRequest: (request) => void requests.push(request) })
  return {
    ...door,
    /** What the model was told in the user's name, by the last request. */
    told: () => requests.at(-1)?.messages.flatMap(({ role, content }) => (role === 'user' ? [content] : [])),
    upload: async (content: string, name: string) => {
      const sent = { pointer: '', base64: base64(content), name, mimeType: null }
      return (await door.attachments.take('local_user', [sent]))[0]?.id
    },
  }
}

const url = (content: string | Uint8Array, mimeType: string) => `data:${mimeType};base64,${base64(content)}`
const picture = url(PNG, 'image/png')
const chat = (...content: unknown[]) => ({ messages: [{ role: 'user', content }] })
const response = (...content: unknown[]) => ({ input: [{ role: 'user', content }] })
const note = url('Buy milk.', 'text/plain')

describe('files', () => {
  test.each<[string, string, object, RegExp]>([
    ['an image', CHAT, chat({ type: 'image_url', image_url: { url: picture, detail: 'low' } }), /words in image\.png/],
    ['a file', CHAT, chat({ type: 'file', file: { file_data: note, filename: 'note.txt' } }), /note\.txt\][\s\S]*Buy/],
    [
      'a file in bare base64',
      CHAT,
      chat({ type: 'file', file: { file_data: base64('Bare.'), filename: 'bare.txt' } }),
      /bare\.txt\][\s\S]*Bare\./,
    ],
    [
      'an image',
      RESPONSES,
      response({ type: 'input_image', image_url: picture, detail: 'auto' }),
      /words in image\.png/,
    ],
    [
      'a file',
      RESPONSES,
      response({ type: 'input_file', file_data: note, filename: 'note.txt' }),
      /note\.txt\][\s\S]*Buy milk\./,
    ],
  ])('%s at %s reaches the agent', async (_what, path, body, told) => {
    await using door = await open()

    const answer = await door.post(path, body)

    expect(answer.status).toBe(200)
    expect(door.told()).toEqual([expect.stringMatching(told)])
  })

  test.each([
    [CHAT, (id: unknown) => chat({ type: 'text', text: 'Read.' }, { type: 'file', file: { file_id: id } })],
    [RESPONSES, (id: unknown) => response({ type: 'input_text', text: 'Read.' }, { type: 'input_file', file_id: id })],
    [RESPONSES, (id: unknown) => response({ type: 'input_text', text: 'Read.' }, { type: 'input_image', file_id: id })],
  ])('may be uploaded before (%s %#)', async (path, body) => {
    await using door = await open()

    const answer = await door.post(path, body(await door.upload('Uploaded.', 'up.txt')))

    expect(answer.status).toBe(200)
    expect(door.told()).toEqual([expect.stringMatching(/^Read\.\n\n[\s\S]*up\.txt\][\s\S]*Uploaded\./)])
  })

  test('of a conversation that only the request knows are shown in their places', async () => {
    await using door = await open()
    const file = (text: string) => ({ type: 'file', file: { file_data: base64(text), filename: `${text}.txt` } })

    await door.post(CHAT, {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'First.' }, file('one')] },
        { role: 'assistant', content: 'Seen.' },
        { role: 'user', content: [{ type: 'text', text: 'Second.' }, file('two'), file('three')] },
      ],
    })

    expect(door.told()).toEqual([
      expect.stringMatching(/^First\.[\s\S]*one\.txt(?![\s\S]*two\.txt)/),
      expect.stringMatching(/^Second\.[\s\S]*two\.txt[\s\S]*three\.txt/),
    ])
  })

  test('that a client repeats in a conversation that is kept here are not taken again', async () => {
    await using door = await open()
    const first = { role: 'user', content: [{ type: 'file', file: { file_data: note, filename: 'note.txt' } }] }
    const metadata = { session_id: 'talk' }
    await door.post(CHAT, { messages: [first], metadata })

    const messages = [first, { role: 'assistant', content: 'Hello.' }, { role: 'user', content: 'And?' }]
    await door.post(CHAT, { messages, metadata })

    const session = await door.engine.sessions.get('local_user', 'talk')
    expect(await door.store.files.ofSession(session.id)).toHaveLength(1)
    expect(door.told()).toEqual([expect.stringContaining('Buy milk.'), 'And?'])
  })

  const file = (data: string, filename = 'a.txt') => ({ type: 'file', file: { file_data: data, filename } })
  const https = 'https://example.com/a.png'
  test.each<[string, string, object, number, string, string | null]>([
    [
      'an address',
      CHAT,
      chat({ type: 'image_url', image_url: { url: https } }),
      400,
      'invalid_request',
      'messages[0].content[0].image_url',
    ],
    [
      'an address',
      RESPONSES,
      response({ type: 'input_image', image_url: https }),
      400,
      'invalid_request',
      'input[0].content[0].image_url',
    ],
    [
      'the address of a file',
      RESPONSES,
      response({ type: 'input_file', file_url: https }),
      400,
      'invalid_request',
      'input[0].content[0]',
    ],
    ['audio', CHAT, chat({ type: 'input_audio' }), 400, 'invalid_request', 'messages[0].content[0]'],
    ['no base64', CHAT, chat(file('!')), 400, 'invalid_request', 'messages[0].content[0].file.file_data'],
    ['a label that does not fit', CHAT, chat(file(url('x', 'image/png'))), 400, 'unsupported_media_type', null],
    ['what cannot be read', CHAT, chat(file(note, 'damaged.txt')), 400, 'file_unreadable', null],
    ['an unknown id', CHAT, chat({ type: 'file', file: { file_id: 'file-1' } }), 404, 'file_not_found', null],
    ['eleven files', CHAT, chat(...Array(11).fill(file(note))), 400, 'too_many_files', null],
    [
      'a file of the system',
      CHAT,
      {
        messages: [
          { role: 'system', content: [file(note)] },
          { role: 'user', content: 'Hi' },
        ],
      },
      400,
      'invalid_request',
      'messages[0].content[0].file.file_data',
    ],
  ])('%s at %s is refused before there is a run', async (_what, path, body, status, code, param) => {
    await using door = await open()

    const answer = await door.post(path, body)
    const { error } = (await answer.json()) as { error: { code: string; param: string | null } }

    expect([answer.status, error.code, error.param]).toEqual([status, code, param])
    expect(door.engine.stats().runsStarted).toBe(0)
  })
})
