import { appendFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../../app/open-store.ts'
import { createSystemClock } from '../../../domain/clock.ts'
import { main } from '../../main.ts'
import { sendJson, startFakeServer } from '../../testing/fake-server.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo, type TestIoOptions } from '../../testing/test-io.ts'
import { descriptor } from '../ctl/testing/socket-server.ts'

const LEAVE = `# Leave

## Parental leave

Parents get 20 days for each child, to be taken in its first three years.
`
const TRAVEL = `# Travel

A hotel may cost 95 euros a night. Receipts are due within 30 days.
`
const QUESTIONS = `- question: How long is parental leave?
  file: leave.md
  heading: Parental leave
  contains: 20 days
- question: What may a hotel cost?
  file: trips/*.md
`

/** An agent with a handbook of two files and one that cannot be read. */
async function project(tool = ''): Promise<string> {
  const cwd = await tempFolder()
  await mkdir(join(cwd, 'handbook/trips'), { recursive: true })
  await writeFile(join(cwd, 'handbook/leave.md'), LEAVE)
  await writeFile(join(cwd, 'handbook/trips/travel.md'), TRAVEL)
  await writeFile(join(cwd, 'handbook/broken.pdf'), '%PDF-1.7 and nothing else')
  await writeFile(join(cwd, 'questions.yaml'), QUESTIONS)
  await writeFile(
    join(cwd, 'agent.yaml'),
    `name: clerk
model: { provider: demo }
instructions: Answer from the handbook.
tools:
  - { type: knowledge, name: handbook, source: ./handbook${tool} }
test_cases:
  - { name: finds it, knowledge: handbook, questions: questions.yaml }
`,
  )
  return cwd
}

const env = { QUARTERDECK_OPERATOR_TOKEN: 'operator-token-of-this-test' }

async function run(cwd: string, args: string[], options: TestIoOptions = {}) {
  const io = createTestIo({ cwd, clock: createSystemClock(), env, ...options })
  const exitCode = await main(args, io)
  return { exitCode, out: io.printed(), err: io.complained() }
}
const knowledge = (cwd: string, ...args: string[]) => run(cwd, ['knowledge', ...args])

async function serve(cwd: string, ...flags: string[]) {
  const io = createTestIo({ cwd, clock: createSystemClock(), env })
  const stopped = main(['serve', '--port', '0', ...flags], io)
  const stop = async () => {
    io.signal('SIGTERM')
    io.signal('SIGTERM')
    await stopped
  }
  onTestFinished(stop)
  await io.until('Ctrl-C')
  return { io, stop }
}

const BROKEN = /^ {2}broken\.pdf: .+\.$/m

describe('quarterdeck knowledge without a server', () => {
  test('says what would be read, and writes nothing', async () => {
    const cwd = await project()
    expect(await knowledge(cwd, 'index', '--dry-run')).toEqual({
      exitCode: 0,
      out: './handbook: 3 new or changed files, 1 kB, about 2 passages. Words only, nothing is sent.\n',
      err: 'Nothing was written or sent.\n',
    })
    expect(await readdir(cwd)).not.toContain('.quarterdeck')
  })

  test('reads, shows, searches, measures and clears', async () => {
    const cwd = await project()

    const indexed = await knowledge(cwd, 'index')
    expect([indexed.exitCode, indexed.err]).toEqual([0, ''])
    expect(indexed.out).toMatch(/^handbook: 3 files, 2 passages; 1 file could not be read, or not as a whole$/m)
    expect(indexed.out).toMatch(BROKEN)

    const { out: status } = await knowledge(cwd, 'status')
    expect(status).toMatch(
      /^handbook: 3 files, 2 passages; 1 file .*\n {2}sources {2}\.\/handbook\n {2}finds {4}words only\n {2}used by {2}clerk as handbook\n {2}as of {4}20/,
    )
    expect(status).toMatch(BROKEN)

    const { out: found } = await knowledge(cwd, 'search', 'parental leave')
    expect(found).toMatch(
      /^1\. leave\.md, line \d, Leave > Parental leave {2}[\d.]+ \(words 1\.\)\n {4}Parents get 20 days/,
    )
    const { hits, lacks } = JSON.parse((await knowledge(cwd, 'search', 'hotel', '--passages', '1', '--json')).out)
    expect([hits.length, hits[0].passage.file, hits[0].by_words, lacks]).toEqual([1, 'trips/travel.md', 1, []])

    expect(await knowledge(cwd, 'eval', 'questions.yaml', '--at-least', '0.9')).toEqual({
      exitCode: 0,
      out: 'recall@1   1.000  2 of 2\nrecall@5   1.000  2 of 2\nrecall@10  1.000  2 of 2\nMRR        1.000\n',
      err: '',
    })

    expect(await knowledge(cwd, 'clear', '--yes')).toEqual({
      exitCode: 0,
      out: 'Removed handbook: 3 files, 2 passages\n',
      err: '',
    })
    const { out } = await knowledge(cwd, 'status', '--json')
    expect(JSON.parse(out).indexes).toMatchObject([
      { files: 0, passages: 0, state: 'waiting', why: expect.stringContaining('3 of its files are new') },
    ])
  })

  test('a search reads what has changed first', async () => {
    const cwd = await project()
    await knowledge(cwd, 'index')
    await appendFile(join(cwd, 'handbook/leave.md'), '\nDogs are welcome on Fridays.\n')
    await rm(join(cwd, 'handbook/trips/travel.md'))
    expect((await knowledge(cwd, 'status')).out).toContain('2 of its files are new, changed or gone.')
    expect((await knowledge(cwd, 'search', 'dogs')).out).toContain('Dogs are welcome')
    expect((await knowledge(cwd, 'search', 'hotel')).out).toBe('Nothing was found. Try other words.\n')
  })

  test('names misses, and fails below the wanted share', async () => {
    const cwd = await project()
    await writeFile(join(cwd, 'questions.yaml'), `${QUESTIONS}- { question: parental cats, file: cats.md }\n`)
    const { exitCode, out } = await knowledge(cwd, 'eval', 'questions.yaml', '--at-least', '0.9')
    expect(exitCode).toBe(1)
    expect(out).toContain('recall@5   0.667  2 of 3\n')
    expect(out).toContain(
      'Not among the first 5: 1 question\n\n  parental cats\n    expected  cats.md\n    found     1. leave.md, Leave > Parental leave\n',
    )
    const { out: json } = await knowledge(cwd, 'eval', 'questions.yaml', '--json')
    expect(JSON.parse(json)).toMatchObject({ questions: 3, misses: [{ question: 'parental cats', place: null }] })
  })

  test('says where a file of questions is wrong', async () => {
    const cwd = await project()
    await writeFile(join(cwd, 'questions.yaml'), '- question: How long?\n  page: 0\n')
    const { exitCode, err } = await knowledge(cwd, 'eval', 'questions.yaml')
    expect(exitCode).toBe(2)
    expect(err).toContain('questions.yaml:1:3 questions[0].file: this key is missing;')
    expect(err).toContain('questions.yaml:2:9 questions[0].page: expected a whole number of at least 1, found 0.')
    expect(await knowledge(cwd, 'eval', 'nowhere.yaml')).toMatchObject({
      exitCode: 2,
      err: /nowhere\.yaml: .*no such file/,
    })
  })

  test('says what to write when no agent has documents, and which there are', async () => {
    const cwd = await project()
    expect(await knowledge(cwd, 'status', '--tool', 'wiki')).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('There are: --agent clerk --tool handbook'),
    })
    await writeFile(join(cwd, 'agent.yaml'), 'name: crow\nmodel: { provider: demo }\ninstructions: You repeat.\n')
    expect(await knowledge(cwd, 'index')).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('- { type: knowledge, name: handbook, source: ./handbook }'),
    })
  })

  test('an embedding is said, priced and counted', async () => {
    const server = await startFakeServer(({ body }, response) => {
      const { input } = body as { input: string[] }
      const data = input.map((text, index) => ({ index, embedding: text.includes('leave') ? [1, 0.1] : [0.1, 1] }))
      sendJson(response, 200, { data, usage: { prompt_tokens: 7 } })
    })
    onTestFinished(server.close)
    const cwd = await project(
      `, embedding: { provider: openai, name: small, base_url: '${server.url}/v1', api_key: none, price: 20 }`,
    )
    const dryRun = await knowledge(cwd, 'index', '--dry-run')
    expect(dryRun.out).toMatch(/About \d+ tokens would be sent to openai\/small: costs less than 0\.01\.\n$/)
    expect(server.seen).toEqual([])

    await knowledge(cwd, 'index')
    expect((await knowledge(cwd, 'status')).out).toMatch(
      /finds {4}words, and meaning by openai\/small \(2 of 2 passages\)/,
    )
    expect((await knowledge(cwd, 'search', 'parental leave')).out).toMatch(/\(words 1\., meaning 1\.\)/)
    expect(JSON.parse((await knowledge(cwd, 'eval', 'questions.yaml', '--json')).out)).toMatchObject({ tokens: 14 })
    expect(server.seen.map(({ body }) => (body as { input: string[] }).input.length)).toEqual([2, 1, 1, 1])
    const store = openStore({ dataDir: join(cwd, '.quarterdeck'), readOnly: true })
    onTestFinished(() => store.close())
    const sums = await store.read(({ usage }) => usage.sums({ from: 0, to: 1e6, by: 'agent', limit: 9 }))
    expect(sums).toMatchObject([{ key: 'clerk', provider: 'openai', model: 'small', input: 28, runs: 0 }])

    await server.close()
    expect((await knowledge(cwd, 'search', 'parental leave')).out).toMatch(
      /^warning: The meaning could not be looked for, only the words: .+\n\n1\. leave\.md.* \(words 1\.\)\n/,
    )
  })

  test('test cases use the same index', async () => {
    const cwd = await project()
    const { exitCode, out } = await run(cwd, ['test'])
    expect([exitCode, out]).toEqual([0, expect.stringContaining('1 of 1 test case passed')])
    expect((await knowledge(cwd, 'status')).out).toContain('3 files, 2 passages')
  })
})

describe('quarterdeck knowledge beside a server', () => {
  test('the server logs once that an embedding fails, and finds the words', async () => {
    const embedding = '{ provider: openai, name: small, base_url: "http://127.0.0.1:1/v1", api_key: none, retries: 0 }'
    const { io } = await serve(
      await project(`, embedding: ${embedding}`),
      '--log-level',
      'warn',
      '--log-format',
      'json',
    )
    const warned = () =>
      io
        .complained()
        .split('\n')
        .filter((line) => line.includes('by their words alone'))
    await expect.poll(() => warned().length, { timeout: 10_000 }).toBe(1)
    expect(JSON.parse(warned()[0] ?? '')).toMatchObject({
      documents: 'handbook',
      reason: expect.stringContaining('The model server at 127.0.0.1:1 cannot be reached'),
    })
  })

  test('asks the server, and reads its index to measure and to test', async () => {
    const cwd = await project()
    const { io } = await serve(cwd, '--log-level', 'info', '--log-format', 'json')
    expect(io.printed()).toContain('documents in handbook')
    const logged = () =>
      io
        .complained()
        .split('\n')
        .flatMap((line) => (line.includes('documents are up to date') ? [JSON.parse(line)] : []))
    await expect.poll(() => logged().length, { timeout: 10_000 }).toBe(1)
    expect(logged()[0]).toMatchObject({
      ...{ documents: 'handbook', files: 3, passages: 2, problems: 1, read: 2, removed: 0 },
      not_read: [expect.stringMatching(/^broken\.pdf: /)],
    })

    expect((await knowledge(cwd, 'status')).out).toMatch(/^handbook: 3 files, 2 passages; 1 file/)
    expect(await knowledge(cwd, 'search', 'parental leave')).toMatchObject({
      err: '',
      out: expect.stringMatching(/^1\. leave\.md/),
    })
    await writeFile(join(cwd, 'handbook/dogs.md'), '# Dogs\n\nDogs are welcome on Fridays.\n')
    expect((await knowledge(cwd, 'index')).out).toMatch(/^handbook: 4 files, 3 passages/)
    expect((await knowledge(cwd, 'eval', 'questions.yaml')).out).toContain('recall@5   1.000  2 of 2')
    expect(await run(cwd, ['test'])).toMatchObject({ exitCode: 0 })
    expect((await run(cwd, ['doctor', '--port', '0'])).out).toMatch(
      /ok {4}Docs {4}\.\/handbook: 4 files, 3 passages, up to date/,
    )

    const passphrase = () => ['--passphrase-fd', descriptor(cwd, 'a passphrase of this test')]
    expect(await run(cwd, ['ctl', 'passphrase', ...passphrase()])).toMatchObject({ exitCode: 0 })
    expect(await knowledge(cwd, 'clear', '--yes', ...passphrase())).toMatchObject({
      exitCode: 0,
      out: 'Removed handbook: 4 files, 3 passages\n',
    })
    await expect.poll(async () => (await knowledge(cwd, 'status')).out, { timeout: 10_000 }).toContain('4 files')
  })
})

test('an embedding without its key, and a search for nothing, say what to write', async () => {
  const cwd = await project(', embedding: { provider: openai }')
  expect(await run(cwd, ['validate'])).toMatchObject({
    exitCode: 2,
    err: expect.stringMatching(
      /agent\.yaml:5:71 tools\[0\]\.embedding: provider: openai needs a key\. Set OPENAI_API_KEY, or .+\n\n1 problem\n$/,
    ),
  })
  expect(await knowledge(await project(), 'search', ' ')).toMatchObject({
    exitCode: 2,
    err: expect.stringContaining('Write what to look for: quarterdeck knowledge search "How long'),
  })
  const demo = await project(', embedding: { provider: demo }')
  expect((await knowledge(demo, 'index', '--dry-run')).out).toMatch(
    /\. The embedding demo runs here, nothing is sent\.\n$/,
  )
})

test('validate and doctor say what would be read, and who gets it', async () => {
  const cwd = await project()
  expect((await run(cwd, ['validate'])).out).toContain('      handbook: 3 files, 1 kB; words only, nothing is sent\n')
  const refused = await project()
  await writeFile(join(refused, 'handbook/.env'), 'KEY=k')
  expect((await run(refused, ['validate'])).out).toContain('handbook: 4 files, 1 kB, 1 of them cannot be read; ')
  expect((await run(cwd, ['doctor', '--port', '0'])).out).toContain('Docs    ./handbook: 3 files, not read yet;')
  await knowledge(cwd, 'index')
  expect((await run(cwd, ['doctor', '--port', '0'])).out).toMatch(
    /warn {2}Docs {4}\.\/handbook: 1 file could not be read, or not as a whole\. broken\.pdf: /,
  )

  const embedded = await project(', embedding: { provider: openai, name: text-embedding-3-small, api_key: k }')
  expect((await run(embedded, ['validate'])).out).toContain(
    'sends the text of these documents to openai (https://api.openai.com) to embed them\n',
  )
})
