import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../domain/logger.ts'
import { createServerAddress } from '../http/auth/config-folder/server-address.ts'
import { makeFolder } from '../store/make-folder.ts'
import { main } from './main.ts'
import { chosenDataDir } from './running-server.ts'
import { tempFolder } from './testing/temp-folder.ts'
import { createTestIo } from './testing/test-io.ts'

/** A user with an empty folder, and servers elsewhere that have written down their address. */
async function setUp() {
  const root = await tempFolder()
  const cwd = join(root, 'here')
  mkdirSync(cwd)
  const io = createTestIo({ cwd })
  const configDir = io.env.QUARTERDECK_CONFIG_DIR ?? ''
  return {
    cwd,
    io,
    async serve(name: string) {
      const dataDir = join(root, name)
      mkdirSync(dataDir)
      const server = createServer((_, response) => void response.end('{}'))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const stop = () => server.close()
      onTestFinished(() => void stop())
      const address = server.address()
      const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
      createServerAddress({ configDir, dataDir, makeFolder }).tell(url, silentLogger)
      return { dataDir, url, stop }
    },
  }
}

test('without a named folder, the only running server of this user is used, and said', async () => {
  const { cwd, io, serve } = await setUp()
  expect(await chosenDataDir(undefined, io)).toBe(join(cwd, '.quarterdeck'))

  const one = await serve('one')
  const gone = await serve('gone')
  gone.stop()
  expect(await chosenDataDir(undefined, io)).toBe(one.dataDir)
  expect(io.complained()).toBe(`Using the only server of yours that runs: ${one.dataDir}\n`)
  expect(await chosenDataDir('named', io)).toBe(join(cwd, 'named'))

  mkdirSync(join(cwd, '.quarterdeck'))
  expect(await chosenDataDir(undefined, io)).toBe(join(cwd, '.quarterdeck'))
})

test.each([['ctl', 'list'], ['console'], ['tokens', 'list'], ['sessions', 'list'], ['audit', 'list']])(
  'of several servers, %s %s lists what to type',
  async (...command) => {
    const { cwd, serve } = await setUp()
    const [one, two] = [await serve('one'), await serve('it’s two')]
    const io = createTestIo({ cwd })

    expect(
      await main(
        command.filter((word) => typeof word === 'string'),
        io,
      ),
    ).not.toBe(0)
    expect(io.complained()).toContain('Several servers of yours are running.')
    expect(io.complained()).toContain(`export QUARTERDECK_DATA_DIR=${one.dataDir} # ${one.url}\n`)
    expect(io.complained()).toContain(`export QUARTERDECK_DATA_DIR='${two.dataDir}' # ${two.url}\n`)
  },
)

test.each([
  ['ctl', 'list'],
  ['tokens', 'list'],
  ['sessions', 'list'],
  ['audit', 'list'],
])('%s %s says once which server it has found', async (...command) => {
  const { cwd, serve } = await setUp()
  const { dataDir } = await serve('one')
  const io = createTestIo({ cwd })

  await main(
    command.filter((word) => typeof word === 'string'),
    io,
  )

  expect(io.complained().split(`Using the only server of yours that runs: ${dataDir}\n`)).toHaveLength(2)
})
