// People whom an identity provider or a proxy names, on the whole server.

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createClient } from '../client/client.ts'
import { resolveSettings } from '../config/settings/resolve-settings.ts'
import { sameForEveryRisk } from '../domain/supervision/quorum.ts'
import { createNoonClock } from '../domain/testing/noon-clock.ts'
import { testAgent, testTool } from '../engine/testing/open-engine.ts'
import { openIssuer } from '../http/auth/identity/testing/local-issuer.ts'
import { createApp } from './app.ts'
import { testAppOptions } from './testing/test-app.ts'

const answers = [
  { when: { user: 'delete' }, parts: [{ tool_call: { name: 'delete_all', arguments: {} } }] },
  { parts: [{ text: 'Hello.' }, { usage: { input: 600, output: 400 } }] },
]

const clock = createNoonClock()

/** The whole server, with settings as in quarterdeck.yaml. */
async function open(settings: object, people = 1) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'quarterdeck-identity-')))
  const script = join(folder, 'script.json')
  writeFileSync(script, JSON.stringify({ loop: true, answers }))
  const file = { path: join(folder, 'quarterdeck.yaml'), text: JSON.stringify(settings) }
  const app = await createApp({
    ...testAppOptions(),
    agents: [
      {
        ...testAgent,
        directory: folder,
        model: { ...testAgent.model, script },
        approval: { ...testAgent.approval, quorum: sameForEveryRisk(people) },
      },
    ],
    settings: resolveSettings({ flags: { port: '0', store: ':memory:' }, env: {}, file, onTerminal: false }).settings,
    dataDir: join(folder, 'data'),
    configDir: join(folder, 'config'),
    clock,
    tools: {
      [testAgent.name]: [
        testTool({
          name: 'delete_all',
          approval: { ask: 'always' },
          call: async () => ({ content: 'Deleted.', isError: false }),
        }),
      ],
    },
  })
  onTestFinished(async () => {
    await app.close({ drainMs: 0 })
    rmSync(folder, { recursive: true })
  })
  const { url } = await app.listen()
  const ask = async (method: string, path: string, headers: Record<string, string>, body?: unknown) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, body: text === '' ? null : JSON.parse(text) }
  }
  return { url, ask }
}

const provider = (issuer: { url: string }, more: object = {}) => ({
  oidc: [
    { name: 'corp', issuer: issuer.url, audience: 'quarterdeck', claims: { user: 'preferred_username' }, ...more },
  ],
})
const say = (message: string) => ({ message })

test('a user talks with a token of their provider, and a member of a group decides', async () => {
  await using issuer = await openIssuer()
  const { url, ask } = await open({ ...provider(issuer), operators: [{ group: 'sre', admin: true }] }, 2)
  const token = async (preferred_username: string, ...groups: string[]) =>
    await issuer.token(clock.now(), { preferred_username, groups })
  const bearer = async (...args: Parameters<typeof token>) => ({ Authorization: `Bearer ${await token(...args)}` })
  const [ada, bob, cy] = [await bearer('ada'), await bearer('bob', 'sre'), await bearer('cy', 'sre')]

  expect(await ask('POST', '/agent/tester/chat', ada, say('Hi'))).toMatchObject({
    status: 200,
    body: { content: 'Hello.' },
  })
  expect(await ask('GET', '/me', ada)).toMatchObject({ status: 403 })
  expect(await ask('GET', '/me', bob)).toMatchObject({
    body: { user: 'corp:bob', owner: 'corp:bob', admin: true, signed_in_by: 'oidc', groups: ['sre'], device: null },
  })
  expect((await ask('GET', '/sessions?owner=*', bob)).body).toMatchObject([{ owner: 'corp:ada' }])
  // The same for a program.
  expect(await createClient({ url, token: await token('bob', 'sre') }).me()).toMatchObject({ user: 'corp:bob' })

  await ask('POST', '/agent/tester/chat', ada, say('delete'))
  const [approval] = (await ask('GET', '/approvals?status=pending', bob)).body.approvals
  const decide = (who: Record<string, string>) =>
    ask('POST', `/approvals/${approval.approval_id}`, who, { decision: 'approve' })
  expect((await decide(ada)).status).toBe(403)
  expect((await decide(bob)).status).toBeLessThan(300)
  // A second yes of the same person does not count.
  expect(await decide(bob)).toMatchObject({ status: 409 })
  expect((await decide(cy)).status).toBeLessThan(300)
  const { entries } = (await ask('GET', '/audit?limit=100', bob)).body
  const yeses = entries.filter(({ details }: { details: { approval?: string } }) => details.approval !== undefined)
  const people = new Set(yeses.map(({ by }: { by: string }) => by))
  expect([people.has('corp:bob'), people.has('corp:cy'), people.has('corp:ada')]).toEqual([true, true, false])
})

test('a user who has used up a day gets 429 at every door, and answers still count', async () => {
  await using issuer = await openIssuer()
  const { url, ask } = await open({
    ...provider(issuer, { roles: { operator: 'sre' } }),
    limits: { per_day: { default: { runs: 2 }, groups: { sre: { runs: 'none' } } } },
  })
  const of = async (preferred_username: string, ...groups: string[]) => {
    const token = await issuer.token(clock.now(), { preferred_username, groups })
    return { token, headers: { Authorization: `Bearer ${token}` } }
  }
  const [ada, bob] = [await of('ada'), await of('bob', 'sre')]
  const chat = (who: typeof ada, text: string) => ask('POST', '/agent/tester/chat', who.headers, say(text))

  expect((await chat(ada, 'Hi')).status).toBe(200)
  expect((await chat(ada, 'delete')).status).toBeLessThan(300)
  const refused = await chat(ada, 'Hi')
  expect(refused).toMatchObject({
    status: 429,
    body: { code: 'quota_exceeded', limit: 'runs', used: 2, allowed: 2, resets_at: expect.stringMatching(/T00:00:00/) },
  })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await createClient({ url, token: ada.token }).myLimits()).toMatchObject({ runs: { used: 2, allowed: 2 } })

  const input = {
    threadId: 't',
    runId: 'r',
    state: null,
    tools: [],
    context: [],
    forwardedProps: {},
    messages: [{ id: 'm', role: 'user', content: 'Hi' }],
  }
  const chatInput = { model: 'tester', messages: [{ role: 'user', content: 'Hi' }] }
  for (const [path, body] of [
    ['/', input],
    ['/agents/tester', input],
    ['/awp', input],
    ['/invocations', input],
    ['/copilotkit/agent/tester/run', input],
    ['/agent/tester/chat/stream', say('Hi')],
    ['/chat', say('Hi')],
    ['/sessions/another/messages', say('Hi')],
    ['/v1/chat/completions', chatInput],
    ['/v1/responses', { model: 'tester', input: 'Hi' }],
  ] as const) {
    expect([path, (await ask('POST', path, ada.headers, body)).status]).toEqual([path, 429])
  }

  // What waits can be answered: the run that was begun goes on.
  const [approval] = (await ask('GET', '/approvals?status=pending', bob.headers)).body.approvals
  const decided = await ask('POST', `/approvals/${approval.approval_id}`, bob.headers, { decision: 'approve' })
  expect(decided.status).toBeLessThan(300)
  for (let i = 0; i < 3; i += 1) expect((await chat(bob, 'Hi')).status).toBe(200)
})

test('a proxy signs people in to the console, with no token at all', async () => {
  const { ask } = await open({
    proxy_auth: { trusted: ['127.0.0.1', '::1'], name: 'corp', roles: { operator: 'sre' } },
  })
  const browser = { 'Sec-Fetch-Site': 'same-origin', 'X-Forwarded-User': 'ada' }
  const ada = { ...browser, 'X-Forwarded-Groups': 'sre', 'X-Forwarded-Email': 'ada@example.com' }

  expect(await ask('GET', '/sign-in', {})).toMatchObject({ body: { user: null, role: 'public', signed_in_by: null } })
  expect(await ask('GET', '/sign-in', browser)).toMatchObject({
    body: { user: 'corp:ada', role: 'user', signed_in_by: 'proxy' },
  })
  expect(await ask('GET', '/sign-in', ada)).toMatchObject({
    body: { user: 'corp:ada', role: 'operator', signed_in_by: 'proxy' },
  })
  expect(await ask('GET', '/me', ada)).toMatchObject({
    body: { user: 'corp:ada', signed_in_by: 'proxy', email: 'ada@example.com', device: null },
  })
  expect(await ask('GET', '/inbox', ada)).toMatchObject({ status: 200 })
  expect(await ask('POST', '/sign-in', ada, {})).toMatchObject({ status: 403, body: { code: 'forbidden' } })
  expect(await ask('POST', '/sign-out', ada, {})).toMatchObject({ status: 400 })
  // They may make a token for a script, which is theirs.
  const made = await ask('POST', '/tokens', ada, { role: 'user', user: 'corp:ada', expires_in: 3600 })
  expect(made).toMatchObject({ status: 201, body: { user: 'corp:ada' } })
  expect(await ask('GET', '/capabilities', { Authorization: `Bearer ${made.body.token}` })).toMatchObject({
    status: 200,
  })
  expect(await ask('GET', '/capabilities', {})).toMatchObject({ status: 401 })
})
