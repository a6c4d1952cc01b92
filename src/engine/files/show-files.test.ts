import { describe, expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import type { FileType } from '../../domain/session/file.ts'
import { FILES_NOTICE } from '../../domain/session/file-frame.ts'
import type { Files } from '../files-port.ts'
import type { AcceptedRun } from '../ports/runs.ts'
import { openEngine, outline, testTool, userInput } from '../testing/open-engine.ts'
import {
  activities,
  base64,
  DOCX,
  openWithFiles,
  PDF,
  pages,
  partOf,
  text,
  toolNames,
  users,
} from '../testing/open-with-files.ts'
import { estimatePages } from './show-files.ts'

describe('a file that comes with a message', () => {
  test('reaches the model as text after the words, and the client sees how it is read', async () => {
    const server = openWithFiles()
    const file = await server.add('report.pdf', PDF, pages(2, 15))
    const { events } = await server.say('Sum it up.', [file])
    expect(users(server.requests[0])).toEqual([
      {
        role: 'user',
        content: `Sum it up.\n\n${FILES_NOTICE}\n\n[file: report.pdf]\n[page 1]\nThis is page 1.\n\n[page 2]\nThis is page 2.`,
      },
    ])
    const about = { type: 'ACTIVITY_SNAPSHOT', messageId: `file_${file.id}`, activityType: 'FILE' }
    const content = { file_id: file.id, name: 'report.pdf' }
    expect(activities(events)).toMatchObject([
      { ...about, content: { ...content, status: 'reading' } },
      { ...about, content: { ...content, status: 'reading', done: 1, total: 2 } },
      { ...about, content: { ...content, status: 'read' } },
    ])
    expect(outline(events).slice(0, 5)).toEqual([
      'RUN_STARTED',
      'ACTIVITY_SNAPSHOT',
      'ACTIVITY_SNAPSHOT',
      'ACTIVITY_SNAPSHOT',
      'STEP_STARTED step_1',
    ])
    expect(toolNames(server.requests[0])).toEqual([])
    await server.close()
  })

  test('may come without words', async () => {
    const server = openWithFiles()
    await server.say('', [await server.add('a.txt', 'text/plain', text('Hello.'))])
    expect(users(server.requests[0])).toEqual([{ role: 'user', content: `${FILES_NOTICE}\n\n[file: a.txt]\nHello.` }])
    await server.close()
  })

  test('is sent as an image or a PDF to a model that accepts these, and is not read', async () => {
    const server = openWithFiles({ input: ['text', 'image', 'pdf'] })
    const photo = await server.add('photo.png', 'image/png', text('never read'), Buffer.from('png'))
    const report = await server.add('report.pdf', PDF, text('never read'), Buffer.from('/Type /Page'))
    const letter = await server.add('letter.docx', DOCX, text('Dear you.'))
    const { events } = await server.say('Look.', [photo, report, letter])
    const lines = [
      '[file: photo.png]\nIt is attached as an image.',
      '[file: report.pdf]\nIt is attached as a PDF.',
      '[file: letter.docx]\nDear you.',
    ]
    expect(users(server.requests[0])).toEqual([
      {
        role: 'user',
        content: ['Look.', FILES_NOTICE, ...lines].join('\n\n'),
        attachments: [
          { type: 'image', mimeType: 'image/png', data: base64('png'), name: 'photo.png', tokens: 1_500 },
          { type: 'document', mimeType: PDF, data: base64('/Type /Page'), name: 'report.pdf', tokens: 2_000 },
        ],
      },
    ])
    expect(server.reads).toEqual(['letter.docx'])
    expect(activities(events).map(({ content }) => [content.name, content.status])).toEqual([
      ['photo.png', 'read'],
      ['report.pdf', 'read'],
      ['letter.docx', 'reading'],
      ['letter.docx', 'read'],
    ])
    await server.close()
  })

  test('gets a distinct name if another file has the same, for the model and for the client', async () => {
    const server = openWithFiles({ input: ['text', 'image'], contextWindow: 12_000 })
    const image = (words: string) => server.add('image.png', 'image/png', text(words))
    const { accepted, events } = await server.say('Look.', [await image('One'), await image('Two')])
    await server.say('And this?', [await image('Three')], accepted)
    const names = (at: number) =>
      users(server.requests[at]).flatMap(({ content }) => content.match(/^\[file: .*\]$/gm) ?? [])
    expect(names(0)).toEqual(['[file: image.png]', '[file: image (2).png]'])
    expect(names(1)).toEqual(['[file: image.png]', '[file: image (2).png]', '[file: image (3).png]'])
    const attached = users(server.requests[0]).flatMap((message) =>
      message.role === 'user' ? (message.attachments ?? []) : [],
    )
    expect(attached.map(({ name }) => name)).toEqual(['image.png', 'image (2).png'])
    expect(activities(events).map(({ content }) => content.name)).toEqual(['image.png', 'image (2).png'])
    await server.close()
  })

  test('is sent as its text if the model does not accept images', async () => {
    const server = openWithFiles({ input: ['text', 'pdf'] })
    await server.say('Look.', [await server.add('photo.png', 'image/png', text('EXIT'))])
    const note = '[note: The image itself is not shown to you; this is the text that was found in it.]'
    expect(users(server.requests[0])).toEqual([
      { role: 'user', content: `Look.\n\n${FILES_NOTICE}\n\n[file: photo.png]\n${note}\nEXIT` },
    ])
    await server.close()
  })

  test.each<[string, FileType, Buffer, number]>([
    ['a PDF that is too large', PDF, Buffer.alloc(5_000_001), 128_000],
    ['a PDF with too many pages', PDF, Buffer.from('/Count 101'), 1_000_000],
    ['a PDF with more pages than there is space for', PDF, Buffer.from('/Count 40'), 128_000],
    ['an image that there is no space for', 'image/png', Buffer.from('png'), 3_000],
  ])('is sent as text when it is %s', async (_, type, bytes, contextWindow) => {
    const server = openWithFiles({ input: ['text', 'image', 'pdf'], contextWindow })
    await server.say('Look.', [await server.add('a', type, text('EXIT'), bytes)])
    const [message] = users(server.requests[0])
    expect(message).not.toHaveProperty('attachments')
    expect(message?.content).toContain('EXIT')
    await server.close()
  })

  test('is sent as a smaller image if it is too large, alone or with the others', async () => {
    const server = openWithFiles({ input: ['text', 'image'] })
    const photos: [string, number][] = [
      ['large', 3_750_001],
      ['one', 3_700_000],
      ['two', 3_700_000],
      ['three', 3_700_000],
    ]
    const files = await Promise.all(
      photos.map(([name, bytes]) => server.add(name, 'image/png', text('never read'), Buffer.alloc(bytes))),
    )
    await server.say('Look.', files)
    const [message] = users(server.requests[0])
    const attached = message?.role === 'user' ? (message.attachments ?? []) : []
    expect(attached.map(({ name, mimeType }) => [name, mimeType])).toEqual([
      ['large', 'image/jpeg'],
      ['one', 'image/png'],
      ['two', 'image/png'],
      ['three', 'image/jpeg'],
    ])
    expect(attached[0]?.data).toBe(base64('smaller large'))
    expect(message?.content).toContain('[file: large]\nIt is attached as an image, made smaller.')
    expect(server.reads).toEqual([])
    await server.close()
  })

  test('that cannot be made smaller is reported with the reason', async () => {
    const server = openWithFiles({ input: ['text', 'image'] })
    const broken = new ServerError('file_unreadable', 'It is damaged.')
    await server.say('Look.', [await server.add('a.png', 'image/png', broken, Buffer.alloc(3_750_001))])
    expect(users(server.requests[0])[0]?.content).toContain('This file could not be read: It is damaged.')
    await server.close()
  })

  test('is sent as text after the model has refused it as it is', async () => {
    const refusal = { error: { code: 'model_bad_request' } } as const
    const server = openWithFiles({
      input: ['text', 'image'],
      answers: [{ parts: [refusal] }, { parts: [{ text: 'I see.' }] }],
    })
    const { events } = await server.say('Look.', [await server.add('photo.png', 'image/png', text('EXIT'))])
    expect(server.requests.map((request) => users(request).some((message) => 'attachments' in message))).toEqual([
      true,
      false,
    ])
    expect(users(server.requests[1])[0]?.content).toContain('EXIT')
    expect(outline(events).filter((line) => line.startsWith('STEP') || line.startsWith('RUN'))).toEqual([
      'RUN_STARTED',
      'STEP_STARTED step_1',
      'STEP_FINISHED step_1',
      'STEP_STARTED step_2',
      'STEP_FINISHED step_2',
      'RUN_FINISHED success',
    ])
    await server.close()
  })

  test('does not hide that a request without files is refused', async () => {
    const server = openWithFiles({
      input: ['text', 'image'],
      answers: [{ parts: [{ error: { code: 'model_bad_request' } }] }],
    })
    const { events } = await server.say('Hello.')
    expect(outline(events).at(-1)).toBe('RUN_ERROR model_bad_request')
    expect(server.requests).toHaveLength(1)
    await server.close()
  })

  test('that cannot be read is reported to the model, the client and the log, and the run goes on', async () => {
    const server = openWithFiles()
    const locked = new ServerError('file_unreadable', 'It is locked with a password.')
    const files = [
      await server.add('locked.pdf', PDF, locked),
      await server.add('broken.pdf', PDF, new Error('a bug with /secret/paths')),
      await server.add('a.txt', 'text/plain', text('Fine.')),
    ]
    const { events } = await server.say('Read.', files)
    expect(users(server.requests[0])[0]?.content.split('\n').slice(4)).toEqual([
      '[file: locked.pdf]',
      'This file could not be read: It is locked with a password.',
      '',
      '[file: broken.pdf]',
      'This file could not be read: Something went wrong in the server.',
      '',
      '[file: a.txt]',
      'Fine.',
    ])
    expect(activities(events).map(({ content: { name, status, reason } }) => [name, status, reason])).toEqual([
      ['locked.pdf', 'reading', undefined],
      ['broken.pdf', 'reading', undefined],
      ['a.txt', 'reading', undefined],
      ['locked.pdf', 'unreadable', 'It is locked with a password.'],
      ['broken.pdf', 'unreadable', 'Something went wrong in the server.'],
      ['a.txt', 'read', undefined],
    ])
    expect(server.warnings).toEqual([
      'a run goes on without a file',
      'a file failed unexpectedly',
      'a run goes on without a file',
    ])
    expect(outline(events).at(-1)).toBe('RUN_FINISHED success')
    await server.close()
  })

  test('of another session or another user is not shown, whatever the message says', async () => {
    const server = openWithFiles()
    const foreign = await server.add('secret.txt', 'text/plain', text('Secret.'), undefined, 'eve')
    const loose = await server.add('loose.txt', 'text/plain', text('Loose.'))
    const content = [partOf(foreign), partOf(loose), partOf({ ...loose, id: 'no-such-file', name: 'gone.txt' })]
    const input = { ...userInput('', ''), messages: [{ id: server.ids.uuid(), role: 'user' as const, content }] }
    await server.events(await server.start('', { input }))
    expect(server.reads).toEqual([])
    const lines = ['secret.txt', 'loose.txt', 'gone.txt'].map(
      (name) => `[file: ${name}]\nThis file could not be read: It no longer exists.`,
    )
    expect(users(server.requests[0])).toEqual([{ role: 'user', content: [FILES_NOTICE, ...lines].join('\n\n') }])
    await server.close()
  })

  test('is refused with its run when it is not the user’s', async () => {
    const server = openWithFiles()
    const foreign = await server.add('secret.txt', 'text/plain', text('Secret.'), undefined, 'eve')
    await expect(server.say('Read.', [foreign])).rejects.toMatchObject({ code: 'file_not_found' })
    await server.close()
  })

  test('does not hold up a run that is stopped while the file is read', async () => {
    const server = openWithFiles()
    const file = await server.add('a.txt', 'text/plain', text('x'))
    let reading = () => {}
    const begun = new Promise<void>((resolve) => {
      reading = resolve
    })
    const hung: Files = {
      bytes: async () => Buffer.alloc(0),
      read: (_file, signal) => {
        reading()
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    }
    const other = openEngine({ files: hung, store: server.store })
    const content = [partOf(file)]
    const input = { ...userInput('', ''), messages: [{ id: 'm', role: 'user' as const, content }] }
    const accepted = await other.start('', { input, files: [file.id] })
    await begun
    await other.engine.runs.cancel(accepted.run, 'the user')
    expect(outline(await other.events(accepted))).toEqual([
      'RUN_STARTED',
      'ACTIVITY_SNAPSHOT',
      'RUN_FINISHED cancelled',
    ])
    await other.engine.drain(0)
    await other.engine.close()
    await server.close()
  })
})

describe('files in the history', () => {
  test('are shown to the model again, and not to the client', async () => {
    const server = openWithFiles()
    const { accepted } = await server.say('One.', [await server.add('a.txt', 'text/plain', text('Alpha.'))])
    const { events } = await server.say('Two.', [await server.add('b.txt', 'text/plain', text('Beta.'))], accepted)
    const third = await server.say('Three.', [], accepted)
    expect(users(server.requests[2]).map(({ content }) => content)).toEqual([
      `One.\n\n${FILES_NOTICE}\n\n[file: a.txt]\nAlpha.`,
      `Two.\n\n${FILES_NOTICE}\n\n[file: b.txt]\nBeta.`,
      'Three.',
    ])
    expect(activities(events).map(({ content }) => content.name)).toEqual(['b.txt', 'b.txt'])
    expect(activities(third.events)).toEqual([])
    expect(server.requests.map(toolNames)).toEqual([[], ['read_file'], ['read_file']])
    await server.close()
  })

  test('leave space for the newest: it gets half of the history at most, older ones a quarter', async () => {
    const server = openWithFiles({ contextWindow: 8_000 })
    const { accepted } = await server.say('One.', [
      await server.add('a.txt', 'text/plain', text('Alpha beta. '.repeat(3_000))),
    ])
    await server.say('Two.', [await server.add('b.txt', 'text/plain', text('Gamma delta. '.repeat(3_000)))], accepted)
    const [older = 0, newest = 0] = users(server.requests[1]).map(({ content }) => content.length / 4)
    // 8,000 less 2,000 for the answer and some for instructions and the tool.
    expect(newest).toBeGreaterThan(2_400)
    expect(newest).toBeLessThan(3_000)
    expect(older).toBeGreaterThan(1_000)
    expect(older).toBeLessThan(1_500)
    await server.close()
  })

  test('give way to the messages after them, so that the question stays', async () => {
    const look = testTool({ name: 'look', call: async () => ({ content: 'z'.repeat(8_000), isError: false }) })
    const call = (at: number) => ({ parts: [{ tool_call: { name: 'look', arguments: { at } } }] })
    const server = openWithFiles({
      contextWindow: 10_000,
      tools: [look],
      answers: [call(1), call(2), call(3), { parts: [{ text: 'Done.' }] }],
    })
    await server.say('What is in it?', [await server.add('a.txt', 'text/plain', text('Alpha beta. '.repeat(3_000)))])
    const sizes = server.requests.map((request) => users(request)[0]?.content.length ?? 0)
    expect(users(server.requests[3])[0]?.content).toMatch(/^What is in it\?/)
    expect(sizes[0]).toBeGreaterThan(10_000)
    expect(sizes[3]).toBeLessThan(6_000)
    await server.close()
  })

  test('are only named, and not read, if there is no space for them', async () => {
    const server = openWithFiles({ contextWindow: 4_000 })
    const big = text('Alpha beta. '.repeat(3_000))
    let accepted: AcceptedRun | null = null
    for (const name of ['a', 'b', 'c']) {
      const said = await server.say(name, [await server.add(`${name}.txt`, 'text/plain', big)], accepted)
      accepted ??= said.accepted
    }
    server.reads.length = 0
    await server.say('All?', [], accepted)
    const shown = users(server.requests[3]).map(({ content }) => content)
    expect(server.reads).toEqual(['c.txt', 'b.txt'])
    expect(shown[0]).toBe(
      `a\n\n${FILES_NOTICE}\n\n[file: a.txt]\nThere is no space to show it here; read it with read_file.`,
    )
    await server.close()
  })
})

test.each([
  ['its page objects', '<< /Type /Pages /Count 2 >> << /Type /Page >> << /Type/Page/Parent 1 0 R >>', 2],
  ['the count of its tree', '<< /Type /Pages /Kids [] /Count 120 >>', 120],
  ['its size, if neither can be seen', 'x'.repeat(250_000), 3],
  ['its size, if the tree does not say', '/Count 0', 1],
])('the number of pages comes from %s', (_, text, pages) => {
  expect(estimatePages(Buffer.from(text))).toBe(pages)
})
