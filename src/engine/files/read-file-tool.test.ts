import { describe, expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import type { ScriptedOptions } from '../../models/scripted/scripted.ts'
import { outline, testAgent, testTool } from '../testing/open-engine.ts'
import { modelOf, openWithFiles, PDF, pages, results, text, toolNames, users } from '../testing/open-with-files.ts'

describe('read_file', () => {
  const asking = (args: object, name = 'read_file'): ScriptedOptions['answers'] => [
    { parts: [{ tool_call: { name, arguments: { ...args } } }] },
    { parts: [{ text: 'Done.' }] },
  ]

  test('is offered when something was cut, and shows the rest in pieces', async () => {
    const server = openWithFiles({
      contextWindow: 4_000,
      answers: [
        { parts: [{ tool_call: { name: 'read_file', arguments: { file: 'report.pdf', from: 11 } } }] },
        { parts: [{ tool_call: { name: 'read_file', arguments: { file: 'REPORT.pdf', from: 'page 2', to: '3' } } }] },
        { parts: [{ text: 'Done.' }] },
      ],
    })
    const { events } = await server.say('Sum it up.', [await server.add('report.pdf', PDF, pages(12, 1_000))])
    expect(users(server.requests[0])[0]?.content).toMatch(/pages \d+–12 of 12 are left out; read on with read_file/)
    expect(toolNames(server.requests[0])).toEqual(['read_file'])
    const [eleven = '', two = ''] = results(events)
    expect(eleven.split('\n')[1]).toBe('[file: report.pdf]')
    expect(eleven).toContain('\n[pages 11–12 of 12, characters 0 to 2002 of 2002]\n[page 11]\nThis is page 11. ')
    expect(eleven).toContain('\n[page 12]\nThis is page 12. ')
    expect(two).toContain('\n[pages 2–3 of 12, characters 0 to 2002 of 2002]\n[page 2]\nThis is page 2. ')
    expect(server.reads).toEqual(['report.pdf'])
    await server.close()
  })

  test('says how to read on, within the limit of a result, until every word was shown', async () => {
    const words = Array.from({ length: 1_500 }, (_, index) => `word${index}.`)
    const limits = { ...testAgent.limits, toolResultChars: 2_000 }
    const model = { ...testAgent.model, contextWindow: 6_000 }
    const sections = ['1', '2', '3'].map((page, index) => ({
      label: `page ${page}`,
      text: words.slice(index * 500, index * 500 + 500).join(' '),
    }))
    // Asks for what the last result named, and answers when it named nothing more.
    const reader = modelOf((messages) => {
      const last = messages.at(-1)
      if (last?.role !== 'tool') return { file: 'a.pdf' }
      const more = /\[There is more: call read_file again with from "(page 1)", offset (\d+)\.\]$/.exec(last.content)
      return more === null ? null : { file: 'a.pdf', from: more[1], offset: Number(more[2]) }
    })
    const server = openWithFiles({ agent: { limits, model }, model: reader })
    const { events } = await server.say('x', [await server.add('a.pdf', PDF, { sections, notes: [] })])
    const found = results(events)
    expect(Math.max(...found.map(({ length }) => length))).toBeLessThanOrEqual(2_000)
    expect(found.flatMap((content) => content.match(/word\d+\./g) ?? [])).toEqual(words)
    expect(outline(events).at(-1)).toBe('RUN_FINISHED success')
    await server.close()
  })

  test.each<[string, object, RegExp]>([
    [
      'a file that is not there',
      { file: 'other.pdf' },
      /^There is no file "other\.pdf" in this conversation\. The files: a\.txt \(id .*, text\/plain, 5 bytes\); /,
    ],
    ['a name that two files have', { file: 'same.csv' }, /\n\[file: same\.csv\]\n\[characters 0 to 1 of 1\]\n1$/],
    [
      'the second file of that name',
      { file: 'SAME (2).csv' },
      /\n\[file: same \(2\)\.csv\]\n\[characters 0 to 1 of 1\]\n2$/,
    ],
    [
      'a third file of that name',
      { file: 'same (3).csv' },
      /^There is no file "same \(3\)\.csv" .*; same\.csv \(id .*; same \(2\)\.csv \(id /,
    ],
    [
      'a part that is not there',
      { file: 'book.xlsx', from: 'sheet Nothing' },
      /^There is no part "sheet Nothing" in this file\. It has sheets Orders, Stock\.$/,
    ],
    [
      'a page of a file without pages',
      { file: 'a.txt', from: 2 },
      /^There is no part "2" in this file\. It has no parts: use offset\.$/,
    ],
    ['an end before the beginning', { file: 'book.xlsx', from: 2, to: 1 }, /^`to` comes before `from`/],
    ['a file that cannot be read', { file: 'locked.pdf' }, /^This file could not be read: It is locked\.$/],
    [
      'a sheet by its number',
      { file: 'book.xlsx', from: 2 },
      /\n\[sheet Stock, characters 0 to 5 of 5\]\n\[sheet Stock\]\nShips$/,
    ],
    ['a sheet by its name', { file: 'book.xlsx', from: 'orders', to: 'sheet Orders' }, /\n\[sheet Orders\]\nBills$/],
    ['text after an offset', { file: 'a.txt', offset: 6 }, /\[characters 6 to 11 of 11\]\nbeta\.$/],
    [
      'more than there is',
      { file: 'a.txt', offset: 99 },
      /\[There is nothing after offset 99: the text ends at 11\.\]$/,
    ],
    ['an empty file', { file: 'blank.pdf' }, /\[note: No text was found here\.\]$/],
  ])('answers %s', async (_, args, expected) => {
    const server = openWithFiles({ answers: [{ parts: [{ text: 'Hello.' }] }, ...asking(args)] })
    const book = {
      sections: [
        { label: 'sheet Orders', text: 'Bills' },
        { label: 'sheet Stock', text: 'Ships' },
      ],
      notes: [],
    }
    const files = [
      await server.add('a.txt', 'text/plain', text('Alpha beta.')),
      await server.add('same.csv', 'text/csv', text('1')),
      await server.add('same.csv', 'text/csv', text('2')),
      await server.add('book.xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', book),
      await server.add('locked.pdf', PDF, new ServerError('file_unreadable', 'It is locked.')),
      await server.add('blank.pdf', PDF, { sections: [], notes: [] }),
    ]
    const { accepted } = await server.say('Keep these.', files)
    const { events } = await server.say('Read.', [], accepted)
    expect(results(events)[0]).toMatch(expected)
    await server.close()
  })

  test('finds files of the same name by their ids, and no file of another session', async () => {
    const wanted: string[] = []
    const reader = modelOf((messages) => (messages.at(-1)?.role === 'user' ? { file: wanted.shift() ?? '' } : null))
    const server = openWithFiles({ model: reader })
    const files = [
      await server.add('same.csv', 'text/csv', text('first')),
      await server.add('same.csv', 'text/csv', text('second')),
    ]
    const { accepted } = await server.say('Keep these.', files)
    wanted.push(files[1]?.id ?? '')
    expect(results((await server.say('Read.', [], accepted)).events)[0]).toMatch(/\nsecond$/)

    const other = await server.start('A new one.', { session: { create: { alias: 'other' } } })
    await server.events(other)
    const own = await server.add('own.csv', 'text/csv', text('own'))
    await server.say('Keep this.', [own], other)
    wanted.push(files[0]?.id ?? '')
    expect(results((await server.say('Read.', [], other)).events)[0]).toBe(
      `There is no file "${files[0]?.id}" in this conversation. The files: own.csv (id ${own.id}, text/csv, 7 bytes).`,
    )
    await server.close()
  })

  test('reads pages that were left unread, and says which are still missing', async () => {
    const scan = { ...pages(3, 15), unread: ['page 2', 'page 3'] }
    const server = openWithFiles({ answers: asking({ file: 'scan.pdf', from: 2, to: 2 }) })
    const { events } = await server.say('Sum it up.', [await server.add('scan.pdf', PDF, scan)])
    const missing = (what: string, from: string) =>
      `[note: ${what} not read yet, because there was not enough time; ask for ${what.endsWith('is') ? 'it' : 'them'} with read_file, from "${from}".]`
    expect(users(server.requests[0])[0]?.content).toContain(
      `[file: scan.pdf]\n${missing('pages 2–3 are', 'page 2')}\n[page 1]\nThis is page 1.`,
    )
    expect(toolNames(server.requests[0])).toEqual(['read_file'])
    expect(results(events)[0]).toContain(`${missing('page 3 is', 'page 3')}\n[page 2 of 3, characters 0 to 15 of 15]`)
    expect(server.unreadWanted).toEqual(['all', ['page 2']])
    await server.close()
  })

  test('has another name if the agent already has a tool of that name', async () => {
    const own = testTool({ name: 'read_file', call: async () => ({ content: 'Mine.', isError: false }) })
    const server = openWithFiles({
      contextWindow: 4_000,
      tools: [own],
      answers: asking({ file: 'report.pdf', from: 12 }, 'read_attached_file'),
    })
    const { events } = await server.say('Sum it up.', [await server.add('report.pdf', PDF, pages(12, 1_000))])
    expect(toolNames(server.requests[0])).toEqual(['read_attached_file', 'read_file'])
    expect(users(server.requests[0])[0]?.content).toContain('read them with read_attached_file]')
    expect(results(events)[0]).toContain('[page 12]\nThis is page 12. ')
    await server.close()
  })

  test('is not offered if no file was ever attached', async () => {
    const server = openWithFiles()
    await server.say('Hello.')
    expect(toolNames(server.requests[0])).toEqual([])
    expect(users(server.requests[0])).toEqual([{ role: 'user', content: 'Hello.' }])
    await server.close()
  })

  test('reaches a file whose message the model no longer sees', async () => {
    const server = openWithFiles({
      agent: { context: { maxMessages: 1, mode: 'window' } },
      answers: [{ parts: [{ text: 'Yes.' }] }],
    })
    const { accepted } = await server.say('One.', [await server.add('a.txt', 'text/plain', text('Alpha.'))])
    for (const words of ['Two.', 'Three.']) await server.say(words, [], accepted)
    const [only, ...others] = users(server.requests[2])
    expect([only?.content, others]).toEqual([expect.stringMatching(/earlier messages .*\n\nThree\.$/), []])
    expect(toolNames(server.requests[2])).toEqual(['read_file', 'read_history'])
    await server.close()
  })
})
