// What the wire tells of all that a hosted agent has changed: file by file, before the yes and after it.

import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { HostChoice, ShownApproval } from '../../src/client/wire.ts'
import { CODER, type ConsoleHouse, openConsoleHouse } from '../console/support/console-house.ts'
import { openHostedApp } from './hosted-app.ts'

const LATE = { timeout: 60_000 }

async function changed(house: ConsoleHouse, script: string): Promise<{ asked: ShownApproval; session: string }> {
  const session = crypto.randomUUID()
  await house.client.send(session, script, { agent: CODER })
  await expect.poll(async () => (await house.client.approvals({ status: 'pending' })).length, LATE).toBe(1)
  const [asked] = await house.client.approvals({ status: 'pending' })
  return { asked: await house.client.approval(asked?.approval_id ?? ''), session }
}

const outcomeOf = async (house: ConsoleHouse, id: string) => (await house.client.approval(id)).view.outcome

test('a change of several files is told, read and decided file by file, and says what became of each', async () => {
  await using house = await openConsoleHouse({
    hosted: { workspace: { 'a.txt': 'one\n', 'b.txt': 'two\n', 'c.txt': 'three\n', 'd.txt': 'four\n' } },
  })
  const { client } = house
  expect(await client.agents.get(CODER)).toMatchObject({
    model: null,
    capabilities: { tools: { clientProvided: false }, execution: { maxExecutionTime: 43_200_000 } },
    host: {
      name: 'custom',
      writes: 'worktree',
      unconfined: false,
      network: true,
      workspace: expect.stringMatching(/\/shop$/),
    },
  })
  const { asked, session } = await changed(
    house,
    'write a.txt ONE\nwrite b.txt TWO\nwrite c.txt THREE\nwrite d.txt FOUR\nwrite .github/workflows/x.yml on: push\nleave ln -s a.txt link\nsay Done.',
  )
  const { view, approval_id: id } = asked
  expect(asked).toMatchObject({ kind: 'changes', risk: 'critical', tool: 'apply_changes' })
  expect(view.title).toBe('Write 5 files to shop +5 −4')
  expect(view.context).toMatchObject({
    request: expect.stringMatching(/^write a.txt ONE/),
    said: expect.stringMatching(/Done\.$/),
  })
  expect((await client.sessions.get(session)).title).toMatch(/^write a.txt ONE/)
  expect(view.context.tool).toBe('Writes to the workspace what the agent has changed in its own copy, once')
  const fileOf = (path: string) => ({
    ...{ path, kind: 'modify', added_lines: 1, removed_lines: 1, risk: 'low', binary: false, fate: null },
    warnings: ['No newline at the end of the file.'],
  })
  expect(view.changes).toMatchObject({
    ...{ total: 5, added_lines: 5, removed_lines: 4 },
    files: [{ path: '.github/workflows/x.yml', kind: 'create', risk: 'critical', fate: null }, {}, {}, {}, {}],
    left: [{ path: 'link', why: 'It is a symbolic link.' }],
  })
  expect(view.changes?.files[1]).toEqual(fileOf('a.txt'))
  // Lists and the inbox tell it too.
  const listed = { total: 5, files: [{ path: '.github/workflows/x.yml' }, {}, {}, {}, {}] }
  expect((await client.approvals({ status: 'pending' }))[0]?.view.changes).toMatchObject(listed)
  expect((await client.inbox()).items[0]?.view.changes).toMatchObject(listed)

  // Each file is a part of its own, and can be read by itself.
  const diffs = view.body.flatMap((part) => (part.type === 'diff' ? [[part.title, part.path]] : []))
  expect(diffs[1]).toEqual(['What changes in a.txt', 'a.txt'])
  expect([diffs.length, asked.shown_diff, asked.diff]).toEqual([5, undefined, undefined])
  const one = await client.approval(id, { path: 'a.txt', include: ['content'] })
  expect([one.diff, one.content]).toEqual([expect.stringContaining('-one\n+ONE\n'), 'ONE'])
  expect((await client.fileLines(id, { path: 'b.txt' })).lines).toEqual(['TWO'])
  await expect(client.approval(id, { path: 'none.txt' })).rejects.toMatchObject({ code: 'file_not_found' })

  const choices = { leave: ['b.txt'], discard: ['c.txt', '.github/workflows/x.yml'], edit: { 'd.txt': 'Mine.\n' } }
  await client.approve(asked, { arguments: choices })
  await expect
    .poll(async () => (await outcomeOf(house, id))?.facts.map(({ name, text }) => [name, text]), LATE)
    .toEqual([
      ['Written', 'a.txt, d.txt'],
      ['Kept for later', 'b.txt'],
      ['Thrown away', '.github/workflows/x.yml, c.txt'],
    ])
  const after = await client.approval(id)
  expect(after.view.outcome?.more).toBe('As an operator edited it: d.txt.')
  expect(after.view.changes?.files.map(({ fate }) => fate)).toEqual([
    'discarded',
    'written',
    'left',
    'discarded',
    'written',
  ])
  expect(after.edit_diff).toContain('-FOUR')
  expect((await client.fileLines(id, { path: 'd.txt' })).lines).toEqual(['Mine.'])
  const { shop } = house
  expect(['a.txt', 'b.txt', 'c.txt', 'd.txt'].map((path) => readFileSync(shop(path), 'utf8'))).toEqual([
    'ONE',
    'two\n',
    'three\n',
    'Mine.\n',
  ])
  expect(existsSync(shop('.github'))).toBe(false)
})

test('a session tells what its program offers, and a message chooses of it', async () => {
  await using house = await openConsoleHouse({ hosted: { workspace: { 'a.txt': 'one\n' } } })
  const { client } = house
  const session = crypto.randomUUID()
  const said = async (text: string, host?: HostChoice) => {
    const { run_id } = await client.send(session, text, { agent: CODER, ...(host === undefined ? {} : { host }) })
    await expect.poll(async () => (await client.run(run_id)).status, LATE).toMatch(/completed|failed/)
    return (await client.run(run_id)).answer ?? (await client.run(run_id)).error?.code
  }
  await said('commands plan,review\nusage 0.25 1200\nstate')
  const { host, hosted, kind } = await client.sessions.get(session)
  expect([kind, hosted, host]).toEqual([
    'supervised',
    true,
    {
      mode: 'ask',
      modes: [
        { id: 'ask', name: 'Ask', description: null },
        { id: 'code', name: 'Code', description: null },
      ],
      commands: expect.arrayContaining([expect.objectContaining({ name: 'plan' })]),
      config: [
        {
          ...{ id: 'model', name: 'Model', description: null, value: 'small' },
          values: [
            { value: 'small', name: 'Small' },
            { value: 'large', name: 'Large' },
          ],
        },
        { id: 'thinks', name: 'Thinks', description: null, value: false, values: null },
      ],
      usage: { used: 1_200, size: 200_000, cost: { amount: 0.25, currency: 'USD' } },
    },
  ])
  expect(await said('state', { mode: 'code', config: { model: 'large', thinks: true } })).toBe(
    '{"mode":"code","config":{"model":"large","thinks":"true"}}',
  )
  expect((await client.sessions.get(session)).host).toMatchObject({
    mode: 'code',
    config: [{ value: 'large' }, { value: true }],
  })
  expect(await said('', { command: 'plan' }).catch(({ code }) => code)).toBe('invalid_request')
  expect(await said('now', { command: 'plan' })).toContain('Ran /plan')
  expect(await said('state', { mode: 'none' })).toBe('invalid_request')
  await expect(client.send(crypto.randomUUID(), 'hello', { host: { mode: 'code' } })).rejects.toMatchObject({
    code: 'invalid_request',
  })
})

test('a file that the program has us write is written with a yes alone, and the transcript says so', async () => {
  await using house = await openHostedApp({ host: { writes: 'client' } })
  await house.send('files', ['client-write a.txt A', 'client-write b.txt B'])
  await house.answer('files', { decision: 'approve' })
  await house.answer('files', { decision: 'reject', reason: 'Not this one.' })
  expect([house.read('a.txt'), house.read('b.txt')]).toEqual(['A', null])
  expect((await house.texts('files')).join(' ')).toMatch(/wrote a\.txt.*Not this one/s)
  const shown = JSON.stringify(await house.request('GET', '/sessions/files/export'))
  expect(shown).toContain('Written: a.txt')
  expect(shown).not.toContain('does not say how it ended')
})
