import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createApp } from '../../../app/app.ts'
import { testAppOptions } from '../../../app/testing/test-app.ts'
import { createClient } from '../../../client/client.ts'
import { resolveSettings } from '../../../config/settings/resolve-settings.ts'
import { testAgent } from '../../../engine/testing/open-engine.ts'

/** The whole server, with tokens that are kept, as `serve` has it. */
async function open(file: object | null = null) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'quarterdeck-token-routes-')))
  const script = join(folder, 'script.json')
  writeFileSync(script, JSON.stringify({ loop: true, answers: [{ parts: [{ text: 'Wait' }, { hang: true }] }] }))
  const flags = { port: '0', 'auth.mode': 'token' }
  const set = file === null ? null : { path: join(folder, 'quarterdeck.yaml'), text: JSON.stringify(file) }
  const [dataDir, configDir] = [join(folder, 'data'), join(folder, 'config')]
  const app = await createApp({
    ...testAppOptions(),
    agents: [{ ...testAgent, directory: folder, model: { ...testAgent.model, script } }],
    settings: resolveSettings({ flags, env: {}, file: set, onTerminal: false }).settings,
    dataDir,
    configDir,
    makeTokens: true,
  })
  onTestFinished(async () => {
    await app.close({ drainMs: 0 })
    rmSync(folder, { recursive: true })
  })
  const { url, madeToken } = await app.listen()
  const made = madeToken ?? ''
  const ask = (method: string, path: string, body?: unknown, token = made) =>
    fetch(`${url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const json = async (response: Response) => JSON.parse(await response.text())
  return { url, dataDir, configDir, made, ask, json }
}

describe('the tokens of a running server', () => {
  test('are made, listed and revoked by an operator', async () => {
    const { ask, json, dataDir, configDir } = await open()

    const answer = await ask('POST', '/tokens', { role: 'operator', user: 'ada', name: 'Ada’s laptop' })
    const { token, ...shown } = await json(answer)

    expect([answer.status, answer.headers.get('cache-control'), shown]).toEqual([
      201,
      'no-store',
      { id: shown.id, name: 'Ada’s laptop', user: 'ada', role: 'operator', created_at: shown.created_at },
    ])
    const listed = await json(await ask('GET', '/tokens', undefined, token))
    expect([listed.data_dir, listed.tokens]).toEqual([dataDir, [shown]])
    expect((await json(await ask('GET', '/tokens'))).tokens).toHaveLength(2)
    const file = readdirSync(configDir).find((name) => name.startsWith('tokens-')) ?? ''
    expect(readFileSync(join(configDir, file), 'utf8')).not.toContain(token)

    expect((await ask('DELETE', `/tokens/${shown.id}`, undefined, token)).status).toBe(204)
    expect((await ask('GET', '/tokens', undefined, token)).status).toBe(401)
    expect(await json(await ask('DELETE', `/tokens/${shown.id}`))).toMatchObject({ code: 'token_not_found' })
  })

  test('are listed, made and revoked by a client', async () => {
    const { url, made } = await open()
    const client = createClient({ url, token: made })

    const { token, ...shown } = await client.createToken({ role: 'user', user: 'ada', name: 'CI' })
    expect((await client.tokens()).at(-1)).toEqual(shown)
    await client.revokeToken(shown.id)

    expect((await client.tokens()).map(({ name }) => name)).not.toContain('CI')
    await expect(createClient({ url, token }).tokens()).rejects.toMatchObject({ code: 'unauthorized' })
  })

  test('that are limited do what their scopes say, and make and revoke none', async () => {
    const { ask, json } = await open()
    const make = async (wanted: object, token?: string) => {
      const answer = await ask('POST', '/tokens', { role: 'operator', ...wanted }, token)
      return { status: answer.status, body: await json(answer) }
    }
    const { id } = (await make({})).body
    const reader = await make({ scopes: ['read'], expires_in: 3600 })
    expect(reader).toMatchObject({ status: 201, body: { scopes: ['read'], expires_at: expect.any(String) } })

    expect((await ask('GET', '/audit', undefined, reader.body.token)).status).toBe(200)
    const refused = await ask('POST', '/sessions/purge', {}, reader.body.token)
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      403,
      'Bearer realm="quarterdeck", error="insufficient_scope", scope="manage"',
    ])
    expect(await json(refused)).toMatchObject({ code: 'forbidden', scope: 'manage' })
    expect((await ask('POST', '/sign-in', {}, reader.body.token)).status).toBe(403)

    for (const limits of [
      { scopes: ['manage'] },
      { scopes: ['read', 'talk', 'decide', 'manage'] },
      { agent: 'test' },
    ]) {
      const { token, id: own } = (await make(limits)).body
      for (const wanted of [
        { role: 'user' },
        { role: 'operator', ...limits },
        { role: 'agent', user: 'ada', workspace: '/srv/shop' },
      ]) {
        expect(await make(wanted, token)).toMatchObject({
          status: 403,
          body: { detail: expect.stringContaining('makes and revokes no tokens') },
        })
      }
      expect((await ask('DELETE', `/tokens/${id}`, undefined, token)).status).toBe(403)
      expect((await ask('DELETE', `/tokens/${own}`, undefined, token)).status).toBe(403)
    }
  })

  test('that end make none that lasts longer', async () => {
    const { ask, json } = await open()
    const make = (wanted: object, token?: string) => ask('POST', '/tokens', { role: 'operator', ...wanted }, token)
    const { token } = await json(await make({ expires_in: 3600 }))

    expect((await make({}, token)).status).toBe(403)
    expect((await make({ expires_in: 7200 }, token)).status).toBe(403)
    expect((await make({ expires_in: 600 }, token)).status).toBe(201)
  })

  test('that decide nothing do not decide by talking either', async () => {
    const { ask, json } = await open()
    const { token } = await json(await ask('POST', '/tokens', { role: 'operator', scopes: ['talk'] }))
    const input = {
      threadId: 't',
      runId: 'r',
      ...{ state: null, messages: [], tools: [], context: [], forwardedProps: {} },
      resume: [
        { interruptId: '0192f3a1-7b2c-7def-8abc-0123456789ab', status: 'resolved', payload: { approved: true } },
      ],
    }
    expect(await json(await ask('POST', '/', input, token))).toMatchObject({ code: 'forbidden', scope: 'decide' })
  })

  test.each([
    [{ role: 'user', scopes: [] }, '/scopes'],
    [{ role: 'user', scopes: ['fly'] }, '/scopes/0'],
    [{ role: 'user', expires_in: 5 }, '/expires_in'],
    [{ role: 'user', expires_in: 1e9 }, '/expires_in'],
    [{ role: 'user', user: 'Corp:ada' }, '/user'],
    [{ role: 'agent', workspace: '/srv/shop', scopes: ['read'] }, '/scopes'],
  ])('cannot be %j', async (wanted, pointer) => {
    const { ask, json } = await open()
    expect(await json(await ask('POST', '/tokens', wanted))).toMatchObject({ errors: [{ pointer }] })
  })

  test('are nobody else’s', async () => {
    const { ask, json } = await open()
    const { token } = await json(await ask('POST', '/tokens', { role: 'user' }))

    const asUser = (method: string, path: string) => ask(method, path, { role: 'operator' }, token)
    expect((await asUser('POST', '/tokens')).status).toBe(403)
    expect((await fetch(`${(await open()).url}/tokens`)).status).toBe(401)
  })

  test('are everybody’s own, and an admin’s to manage', async () => {
    const people = [{ name: 'ada', local: true, admin: true }, { name: 'ben' }, { name: 'eve' }]
    const { ask, json, made } = await open({ operators: people })
    const make = (wanted: object, token?: string) => ask('POST', '/tokens', wanted, token)
    const ben = await json(await make({ role: 'operator', user: 'ben' }))
    const eve = await json(await make({ role: 'user', user: 'eve' }))

    // He would be two of the people whom a quorum asks for, or talk and decide as somebody else.
    for (const wanted of [
      { role: 'operator', user: 'eve' },
      { role: 'user', user: 'eve' },
      { role: 'user', user: 'local_user' },
      { role: 'agent', user: 'eve', workspace: '/srv/shop' },
    ]) {
      const refused = await make(wanted, ben.token)
      expect([refused.status, (await json(refused)).detail]).toEqual([
        403,
        expect.stringContaining('Only an admin may let'),
      ])
    }
    const own = await json(await make({ role: 'user', name: 'his' }, ben.token))
    expect([own.user, own.role]).toEqual(['ben', 'user'])

    const listed = async (token?: string) =>
      (await json(await ask('GET', '/tokens', undefined, token))).tokens.map(({ id }: { id: string }) => id)
    expect(await listed(ben.token)).toEqual([ben.id, own.id])
    expect(await listed()).toEqual(expect.arrayContaining([ben.id, eve.id, own.id]))

    const [first] = await listed()
    for (const id of [eve.id, first]) {
      expect(await json(await ask('DELETE', `/tokens/${id}`, undefined, ben.token))).toMatchObject({
        status: 403,
        detail: expect.stringContaining('or an admin may revoke it'),
      })
    }
    expect((await ask('GET', '/sessions', undefined, eve.token)).status).toBe(200)
    expect((await ask('DELETE', `/tokens/${own.id}`, undefined, ben.token)).status).toBe(204)
    expect((await ask('DELETE', `/tokens/${eve.id}`, undefined, made)).status).toBe(204)
    expect((await ask('GET', '/sessions', undefined, eve.token)).status).toBe(401)
  })

  test('without a list of operators are all the local operator’s, and a named one has only their own', async () => {
    const { ask, json } = await open()
    const ada = await json(await ask('POST', '/tokens', { role: 'operator', user: 'ada' }))
    const mine = await json(await ask('POST', '/tokens', { role: 'user' }))

    expect(mine.user).toBe('local_user')
    expect((await ask('DELETE', `/tokens/${mine.id}`, undefined, ada.token)).status).toBe(403)
    expect((await ask('POST', '/tokens', { role: 'user', user: 'ben' }, ada.token)).status).toBe(403)
    expect((await ask('DELETE', `/tokens/${mine.id}`)).status).toBe(204)
    expect((await ask('DELETE', `/tokens/${ada.id}`)).status).toBe(204)
  })

  test.each([
    [{}, ['/role']],
    [{ role: 'admin' }, ['/role']],
    [{ role: 'user', user: 'a b' }, ['/user']],
    [{ role: 'user', name: 'x'.repeat(65) }, ['/name']],
    [{ role: 'user', name: 'two\nlines' }, ['/name']],
    [{ role: 'agent' }, ['/workspace']],
    [{ role: 'agent', workspace: 'here' }, ['/workspace']],
    [{ role: 'operator', workspace: '/srv', channel: 'C1' }, ['/workspace', '/channel']],
    [{ role: 'user', sha256: '0'.repeat(64) }, ['/sha256']],
  ])('are not made of %j', async (body, pointers) => {
    const { ask, json } = await open()

    const { code, errors } = await json(await ask('POST', '/tokens', body))

    expect([code, errors.map(({ pointer }: { pointer: string }) => pointer)]).toEqual(['invalid_request', pointers])
  })

  test.each([
    ['/tokens', 'application/json', '{"role":"operator",', '"name":"too late"}'],
    ['/sessions/late/messages', 'application/json', '{"message":', '"too late"}'],
    [
      '/files',
      'multipart/form-data; boundary=b',
      '--b\r\n',
      'Content-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nHi\r\n--b--\r\n',
    ],
  ])('what a revoked one had begun to send to %s does not count', async (path, type, begun, rest) => {
    const { url, ask, json } = await open()
    const hers = await json(await ask('POST', '/tokens', { role: 'operator', user: 'ada' }))
    const headers = { Authorization: `Bearer ${hers.token}`, 'Content-Type': type }
    const late = request(`${url}${path}`, { method: 'POST', headers: { ...headers, Expect: '100-continue' } })
    const answered = new Promise<number | undefined>((resolve, reject) => {
      late.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject)
    })
    // It is sent when the server has let the caller in and waits for the body.
    await new Promise((resolve) => late.on('continue', resolve).flushHeaders())
    late.write(begun)

    expect((await ask('DELETE', `/tokens/${hers.id}`)).status).toBe(204)
    late.end(rest)

    expect(await answered).toBe(401)
    const { tokens } = await json(await ask('GET', '/tokens'))
    expect(tokens.map(({ name }: { name: string }) => name)).not.toContain('too late')
  })

  test('a revoked one’s open stream ends within 5 seconds, and others’ do not', async () => {
    const { ask, json, made } = await open()
    const hers = await json(await ask('POST', '/tokens', { role: 'user', user: 'ada' }))
    const stream = async (token: string | undefined, threadId: string) => {
      const message = { id: 'm', role: 'user', content: 'Hi' }
      const response = await ask('POST', '/', { threadId, runId: threadId, messages: [message] }, token)
      const reader = response.body?.getReader()
      await reader?.read()
      const ended = (async () => {
        for (;;) if ((await reader?.read())?.done !== false) return 'ended'
      })().catch(() => 'dropped')
      return { ended, leave: () => reader?.cancel() }
    }
    const [open1, open2] = [await stream(hers.token, 'hers'), await stream(made, 'mine')]

    const began = performance.now()
    expect((await ask('DELETE', `/tokens/${hers.id}`)).status).toBe(204)
    await open1.ended

    // The promise is 5 s; here other tests share the machine.
    expect(performance.now() - began).toBeLessThan(15_000)
    expect(await Promise.race([open2.ended, Promise.resolve('open')])).toBe('open')
    await open2.leave()
  })
})
