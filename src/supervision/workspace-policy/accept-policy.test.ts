import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import { ONE_PERSON } from '../../domain/supervision/quorum.ts'
import { noStepUp } from '../../domain/supervision/step-up.ts'
import { sha256 } from '../../json/digest.ts'
import { createChangeWriter } from '../diffs/change-writer.ts'
import { ann, eve, openSupervision, root, type SupervisionOptions } from '../testing/open-supervision.ts'
import { makeWorkspace } from '../testing/workspace.ts'
import { createAcceptPolicy } from './accept-policy.ts'

const FILE = '.quarterdeck/policy.json'
const policyOf = (...tools: string[]): string => JSON.stringify({ enabled: true, tools })

function open(files: Record<string, string> = {}, options: SupervisionOptions = {}) {
  const path = makeWorkspace(files)
  const service = openSupervision(options)
  const acceptPolicy = createAcceptPolicy(service)
  const accept = (text: string, base: string | null = null, by: Caller = ann) =>
    acceptPolicy(by, { path, channelId: null }, text, base)
  const written = () => readFileSync(join(path, FILE), 'utf8')
  const pin = async () => (await service.store.supervised.pin(path))?.text ?? null
  const look = () => service.policyFiles.look({ path, channelId: null }, 'ann')
  return { ...service, path, accept, written, pin, look }
}

test('writes the file and pins it in one go, with the decision on record', async () => {
  const { accept, written, pin, waiting, audit, look } = open()
  const text = policyOf('Read')
  expect(await accept(text)).toEqual({ file: FILE, waitsFor: null })
  expect([written(), await pin()]).toEqual([text, text])
  expect(await look()).toMatchObject({ state: 'pinned', change: { change: 'same' } })
  expect(await waiting()).toEqual([])
  expect(await audit()).toContainEqual(
    expect.objectContaining({ by: 'ann', decision: 'approved', approval: expect.any(String), channel: 'ctl' }),
  )
  // Wider, then narrower, then off: the pin is always what was accepted last.
  for (const next of [policyOf('Read', 'Write'), policyOf('Read'), JSON.stringify({ enabled: false })]) {
    await accept(next, sha256(written()))
    expect([written(), await pin()]).toEqual([next, next])
  }
  expect((await audit()).filter(({ what }) => what === 'policy_accepted')).toHaveLength(2)
  expect(await waiting()).toEqual([])
})

test('refuses a text that is no policy, and a file that is not the one the draft was made from', async () => {
  const { accept, written, path, pin } = open({ [FILE]: policyOf('Read') })
  await expect(accept('{"enabeld": true}', sha256(policyOf('Read')))).rejects.toMatchObject({
    code: 'invalid_request',
    problems: [{ pointer: '/text', detail: '1:2 enabeld: unknown key. Did you mean enabled?' }],
  })
  await expect(accept(policyOf('Write'))).rejects.toMatchObject({ code: 'conflict' })
  const base = sha256(written())
  // An agent writes meanwhile.
  writeFileSync(join(path, FILE), policyOf('Bash'))
  await expect(accept(policyOf('Write'), base)).rejects.toMatchObject({ code: 'conflict' })
  expect([written(), await pin()]).toEqual([policyOf('Bash'), null])
})

test('the older file is not touched, and counts no more', async () => {
  const old = policyOf('Old')
  const { accept, written, pin, path } = open({ '.monocoque/settings.json': old })
  await accept(policyOf('Read'), sha256(old))
  expect([written(), await pin()]).toEqual([policyOf('Read'), policyOf('Read')])
  expect(readFileSync(join(path, '.monocoque/settings.json'), 'utf8')).toBe(old)
})

test('follows no link out of the workspace, nor to another file', async () => {
  const elsewhere = makeWorkspace({ 'policy.json': 'theirs' })
  const folder = open()
  symlinkSync(elsewhere, join(folder.path, '.quarterdeck'))
  await expect(folder.accept(policyOf('Read'))).rejects.toMatchObject({ code: 'conflict' })
  const file = open()
  mkdirSync(join(file.path, '.quarterdeck'))
  symlinkSync(join(elsewhere, 'policy.json'), join(file.path, FILE))
  await expect(file.accept(policyOf('Read'))).rejects.toMatchObject({ code: 'conflict' })
  expect(readFileSync(join(elsewhere, 'policy.json'), 'utf8')).toBe('theirs')
  await expect(file.accept(policyOf('Read'), sha256('theirs'))).rejects.toMatchObject({ code: 'conflict' })
})

test('only who may decide about the workspace, and nothing is written for others', async () => {
  const { accept, path, pin } = open()
  await expect(accept(policyOf('Read'), null, eve)).rejects.toMatchObject({ code: 'forbidden' })
  await expect(accept(policyOf('Read'), null, { user: 'ann', role: 'user' })).rejects.toMatchObject({
    code: 'forbidden',
  })
  expect(existsSync(join(path, FILE))).toBe(false)
  await accept(policyOf('Read'), null, root)
  expect(await pin()).toBe(policyOf('Read'))
})

test('a quorum and a passkey count as for every other yes: until then it allows nothing', async () => {
  const two = open({}, { quorum: { ...ONE_PERSON, critical: 2 } })
  const text = policyOf('Read')
  const first = await two.accept(text)
  expect([first.waitsFor, await two.pin()]).toEqual([expect.any(String), null])
  expect(await two.waiting()).toMatchObject([{ id: first.waitsFor, kind: 'policy' }])
  await expect(two.accept(text, sha256(text))).rejects.toMatchObject({ code: 'conflict' })
  expect(await two.accept(text, sha256(text), root)).toEqual({ file: FILE, waitsFor: null })
  expect(await two.pin()).toBe(text)

  const stepUp = {
    ...noStepUp,
    require: async () => {
      throw new ServerError('passkey_required', 'Touch it.')
    },
  }
  const proof = open({}, { stepUp })
  expect(await proof.accept(text)).toEqual({ file: FILE, waitsFor: expect.any(String) })
  expect([proof.written(), await proof.pin()]).toEqual([text, null])
  expect(await proof.waiting()).toHaveLength(1)
})

test('killed between the write and the yes: the file allows nothing, and is asked about', async () => {
  const real = createChangeWriter()
  const killed = {
    ...real,
    apply: async (...given: Parameters<typeof real.apply>) => {
      await real.apply(...given)
      throw new Error('killed')
    },
  }
  const before = open({}, { writer: killed })
  await expect(before.accept(policyOf('Read'))).rejects.toThrow('killed')
  expect([before.written(), await before.pin()]).toEqual([policyOf('Read'), null])
  expect(await before.look()).toMatchObject({ state: 'unpinned' })
  expect(await before.waiting()).toMatchObject([{ kind: 'policy', title: `Accept the policy ${FILE}` }])
  // The same request again finds the file as it is to be, and answers the question.
  const again = createAcceptPolicy(before)
  const text = policyOf('Read')
  expect(await again(ann, { path: before.path, channelId: null }, text, null)).toEqual({ file: FILE, waitsFor: null })
  expect([await before.pin(), await before.waiting()]).toEqual([text, []])
})

test('two people at once: one file is written, and it is the one that counts', async () => {
  const { accept, written, pin } = open()
  const results = await Promise.allSettled([accept(policyOf('Read')), accept(policyOf('Write'))])
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(await pin()).toBe(written())
})

test('a text that somebody refused stays refused', async () => {
  const { accept, look, waiting, approvals, pin } = open({ [FILE]: policyOf('Read') })
  await look()
  const [asked] = await waiting()
  await approvals.decide(ann, asked?.id ?? '', { decision: 'reject' })
  await expect(accept(policyOf('Read'), sha256(policyOf('Read')))).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('an operator refused this text before'),
  })
  expect(await pin()).toBeNull()
})

test('an agent that swaps the file meanwhile wins no pin without the people who must say yes', async () => {
  const quorum = { ...ONE_PERSON, critical: 2 }
  const real = createChangeWriter()
  const swapped = {
    ...real,
    apply: async (...given: Parameters<typeof real.apply>) => {
      const applied = await real.apply(...given)
      writeFileSync(join(given[0].workspaceRoot, FILE), policyOf())
      return applied
    },
  }
  const { accept, pin, store, takeStep, sessions, path } = open(
    { [FILE]: policyOf('Read') },
    { quorum, writer: swapped },
  )
  const { id } = await sessions.ofWorkspace('ann', path)
  const [text, hash] = [policyOf('Read'), sha256(policyOf('Read'))]
  await takeStep(id, ({ at }) => ({ pin: { workspaceRoot: path, sha256: hash, text, at, by: 'ann' } }))
  // What lies there now is narrower than the pin, so nobody is asked about it. The text is wider.
  await expect(accept(policyOf('Read', 'Bash'), hash)).rejects.toMatchObject({ code: 'conflict' })
  expect(await pin()).toBe(text)
  expect(await store.waits.list({ isWaiting: true, limit: 10 })).toEqual([])
})
