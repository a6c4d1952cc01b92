import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { request as send } from 'node:http'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Route } from '../../http/route.ts'
import { operatorToken, startServer, userToken } from '../../http/testing/server-fixture.ts'
import { findCtlPlace, openCtlSocket } from './socket.ts'

function folders() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'qd-ctl-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const dataDir = join(root, 'data')
  mkdirSync(dataDir)
  const place = { runtimeDir: join(root, 'run'), path: join(root, 'run', 'x.sock') }
  return { root, dataDir, place }
}

const routes: Route[] = (['user', 'operator', 'public'] as const).map((role) => ({
  method: 'GET',
  path: `/${role}`,
  door: null,
  role,
  body: 'none',
  summary: '',
  handle: async (request, reply) => reply.json(200, { via: request.via, owner: request.principal.owner }),
}))

async function ask(socketPath: string, path: string, headers: Record<string, string> = {}) {
  const request = send({ socketPath, path, headers, agent: false })
  request.end()
  const [response] = await once(request, 'response')
  return { status: response.statusCode, body: JSON.parse(await text(response)) }
}

/** A server of something else at this path. */
async function listenAt(path: string) {
  const server = createServer()
  server.listen(path)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
}

const nothing = async () => {}

describe('the local socket', () => {
  test('answers the same routes, only with a token, and says which way a request came', async () => {
    const { place } = folders()
    await using one = await startServer({ routes })
    await openCtlSocket(place, one.server.listenLocal)
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
    expect([
      await ask(place.path, '/user'),
      await ask(place.path, '/user', bearer(userToken.token)),
      await ask(place.path, '/operator', bearer(operatorToken.token)),
      await ask(place.path, '/operator', bearer(userToken.token)),
      await (await fetch(`${one.url}/user`)).json(),
    ]).toMatchObject([
      { status: 401 },
      { status: 200, body: { via: 'ctl', owner: 'ada' } },
      { status: 200, body: { via: 'ctl' } },
      { status: 403 },
      { via: 'http' },
    ])
  })

  test('takes the passphrase, the network does not', async () => {
    const { place } = folders()
    await using one = await startServer({ routes })
    await openCtlSocket(place, one.server.listenLocal)
    const headers = { 'X-Quarterdeck-Passphrase': 'secret-words' }
    expect((await ask(place.path, '/public', headers)).status).toBe(200)
    const refused = await fetch(`${one.url}/public`, { headers })
    expect([refused.status, await refused.text(), JSON.stringify(one.lines).includes('secret-words')]).toEqual([
      400,
      expect.stringContaining('only through the local socket'),
      false,
    ])
  })

  test('is for this user alone, and is gone when the server ends', async () => {
    const { place } = folders()
    const one = await startServer({ routes })
    await openCtlSocket(place, one.server.listenLocal)
    expect([statSync(place.runtimeDir).mode & 0o777, statSync(place.path).mode & 0o777]).toEqual([0o700, 0o600])
    const idle = connect(place.path)
    await once(idle, 'connect')
    await one[Symbol.asyncDispose]()
    expect(existsSync(place.path)).toBe(false)
    idle.destroy()
  })

  test('replaces what a killed server left, but never a living one or something else', async () => {
    const { place } = folders()
    mkdirSync(place.runtimeDir, { mode: 0o700 })
    await listenAt(place.path)
    await expect(openCtlSocket(place, nothing)).rejects.toThrow(/another server answers there/)

    const stale = { ...place, path: join(place.runtimeDir, 'stale.sock') }
    const left = createServer()
    left.listen(stale.path)
    await once(left, 'listening')
    // The name stays when the listening socket is closed behind node's back, as by kill -9.
    const second = join(place.runtimeDir, 'kept.sock')
    linkSync(stale.path, second)
    await new Promise((resolve) => left.close(resolve))
    renameSync(second, stale.path)
    await using one = await startServer({ routes })
    await openCtlSocket(stale, one.server.listenLocal)
    expect((await ask(stale.path, '/public')).status).toBe(200)

    writeFileSync(join(place.runtimeDir, 'file.sock'), '')
    await expect(openCtlSocket({ ...place, path: join(place.runtimeDir, 'file.sock') }, nothing)).rejects.toThrow(
      /something else has this name/,
    )
  })

  test('is not opened in a folder that others can change, or through a link', async () => {
    const { root, place } = folders()
    mkdirSync(place.runtimeDir)
    chmodSync(place.runtimeDir, 0o755)
    await expect(openCtlSocket(place, nothing)).rejects.toThrow(/chmod 700/)
    chmodSync(place.runtimeDir, 0o700)
    symlinkSync(place.runtimeDir, join(root, 'link'))
    const linked = { runtimeDir: join(root, 'link'), path: join(root, 'link/x.sock') }
    await expect(openCtlSocket(linked, nothing)).rejects.toThrow(/it is a symbolic link/)
    symlinkSync(join(root, 'elsewhere'), place.path)
    await expect(openCtlSocket(place, nothing)).rejects.toThrow(/something else has this name/)
  })

  test('is where server and commands both look', () => {
    const { dataDir, root } = folders()
    const options = { env: {}, configDir: '/etc/q', dataDir, ipcName: null, platform: 'linux' as const }
    const usual = findCtlPlace(options)
    expect(usual).toEqual({
      runtimeDir: '/etc/q/run',
      path: expect.stringMatching(/^\/etc\/q\/run\/[0-9a-f]{16}\.sock$/),
    })
    symlinkSync(dataDir, join(root, 'same'))
    expect(findCtlPlace({ ...options, dataDir: join(root, 'same') })).toEqual(usual)
    expect(findCtlPlace({ ...options, ipcName: 'desk', env: { XDG_RUNTIME_DIR: '/run/user/7' } })).toEqual({
      runtimeDir: '/run/user/7/quarterdeck',
      path: '/run/user/7/quarterdeck/desk.sock',
    })
    expect(findCtlPlace({ ...options, env: { XDG_RUNTIME_DIR: 'run' } })).toEqual(usual)
    expect(findCtlPlace({ ...options, ipcName: 'desk', platform: 'win32' }).path).toBe('\\\\.\\pipe\\quarterdeck-desk')
  })

  test('has a shorter path where the usual one is too long for the system', () => {
    const { dataDir } = folders()
    const place = (platform: 'linux' | 'darwin', length: number) => {
      const configDir = `/${'x'.repeat(length - '//run/desk.sock'.length)}`
      return findCtlPlace({ env: {}, configDir, dataDir, ipcName: 'desk', platform }).path
    }
    const short = `/tmp/quarterdeck-${process.getuid?.()}/desk.sock`
    expect([
      place('linux', 107).length,
      place('linux', 108),
      place('darwin', 103).length,
      place('darwin', 104),
    ]).toEqual([107, short, 103, short])
  })
})
