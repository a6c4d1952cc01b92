import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { silentLogger } from '../domain/logger.ts'
import { createServerAddress } from '../http/auth/config-folder/server-address.ts'
import { makeFolder } from '../store/make-folder.ts'
import { createAgentConnections, currentUrl } from './agent-connection.ts'
import { tempFolder } from './testing/temp-folder.ts'

async function setUp() {
  const home = await tempFolder()
  const [workspace, configDir] = [join(home, 'shop'), join(home, 'config')]
  mkdirSync(join(workspace, 'src', 'deep'), { recursive: true })
  const connection = { workspace, url: 'http://127.0.0.1:8000', tokenId: 'id', token: 'secret' }
  return { home, workspace, configDir, connection, connections: createAgentConnections(configDir, 'claude') }
}

test('a connection is found from every folder in its workspace, for its host alone', async () => {
  const { home, workspace, configDir, connection, connections } = await setUp()
  connections.write(connection)

  expect(connections.find(join(workspace, 'src', 'deep'))).toEqual(connection)
  expect([connections.read(join(workspace, 'src')), connections.find(home), connections.find('/')]).toEqual([
    null,
    null,
    null,
  ])
  expect(createAgentConnections(configDir, 'codex').find(workspace)).toBeNull()
  connections.remove(workspace)
  expect(connections.find(workspace)).toBeNull()
})

test('only this user can read it, and a file that others can change is not trusted', async () => {
  const { workspace, configDir, connection, connections } = await setUp()
  connections.write(connection)
  const [name = ''] = readdirSync(configDir)
  const path = join(configDir, name)

  expect(statSync(path).mode & 0o777).toBe(0o600)
  chmodSync(path, 0o644)
  expect(() => connections.find(workspace)).toThrow('other users can read or write it')
})

test('a config folder in the workspace is refused', async () => {
  const { workspace, connection } = await setUp()

  expect(() => createAgentConnections(join(workspace, 'config'), 'claude').write(connection)).toThrow()
})

test('a server that came back on another port is found', async () => {
  const { home, configDir, connection } = await setUp()
  const dataDir = join(home, 'data')
  const known = { ...connection, dataDir }

  expect(currentUrl(known, configDir)).toBe('http://127.0.0.1:8000')
  mkdirSync(dataDir)
  expect(currentUrl(known, configDir)).toBe('http://127.0.0.1:8000')
  createServerAddress({ configDir, dataDir, makeFolder }).tell('http://127.0.0.1:9999', silentLogger)
  expect([currentUrl(known, configDir), currentUrl(connection, configDir)]).toEqual([
    'http://127.0.0.1:9999',
    'http://127.0.0.1:8000',
  ])
})
