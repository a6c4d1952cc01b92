import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { main } from '../cli/main.ts'
import { tempFolder } from '../cli/testing/temp-folder.ts'
import { createTestIo } from '../cli/testing/test-io.ts'

/** The warnings of `validate` in a folder with a `.env` and `notes`, which has a link to the folder itself. */
async function warnings(server: string, env: Record<string, string> = {}, prepare?: (cwd: string) => Promise<void>) {
  const folder = await tempFolder()
  const cwd = join(folder, 'agent')
  await mkdir(join(cwd, 'notes'), { recursive: true })
  await mkdir(join(cwd, '.quarterdeck'))
  await symlink(cwd, join(cwd, 'notes', 'link'))
  await writeFile(join(cwd, '.env'), 'KEY=1\n')
  await writeFile(
    join(cwd, 'agent.yaml'),
    `name: clerk\nmodel: { provider: demo }\ninstructions: Hi.\ntools:\n  - { type: mcp, name: files, command: files, ${server} }\n`,
  )
  await prepare?.(cwd)
  const io = createTestIo({ cwd, env: { QUARTERDECK_CONFIG_DIR: join(folder, 'config'), ...env } })
  expect(await main(['validate', '--json'], io)).toBe(0)
  const told: string[] = JSON.parse(io.printed()).warnings
  // No machine has this command.
  const found = told.filter((one) => !one.includes('there is no command'))
  return found.map((one) => one.replaceAll(folder, 'F').replace(/ Anyone .*$/, ''))
}

const all = 'the data directory, the config folder with the tokens and .env'
const warning = (folder: string, from: string, what: string) =>
  `The MCP server files of clerk gets ${folder} (${from}), which holds ${what}.`

describe('a folder that an MCP server gets', () => {
  test('is fine if it is a separate folder', async () => {
    expect(await warnings('args: [-y, server, ./notes], cwd: notes')).toEqual([])
    expect(await warnings('args: [-y, "--x=1", "a:b", ./nowhere, "https://example.com/"]')).toEqual([])
  })

  test('causes a warning if it holds the data directory, .env or the config folder', async () => {
    const here = 'the data directory and .env'
    expect(await warnings('args: [-y, server, .]')).toEqual([warning('F/agent', 'args: .', here)])
    expect(await warnings('args: [server], cwd: .')).toEqual([warning('F/agent', 'cwd', here)])
    expect(await warnings('args: ["--root=.."]')).toEqual([warning('F', 'args: ..', all)])
    expect(await warnings('args: [-v, "..:/data"]')).toEqual([warning('F', 'args: ..', all)])
    expect(await warnings('args: [-c, "exec server .."]')).toEqual([warning('F', 'args: ..', all)])
    expect(await warnings('args: [.quarterdeck]')).toEqual([
      warning('F/agent/.quarterdeck', 'args: .quarterdeck', 'the data directory'),
    ])
    expect(await warnings('args: [/]')).toEqual([warning('/', 'args: /', all)])
  })

  test('causes a warning if a tool could create a .env that the next start reads', async () => {
    const elsewhere = { QUARTERDECK_DATA_DIR: '/nowhere/data' }
    const without = (cwd: string) => rm(join(cwd, '.env'))

    expect(await warnings('args: [.]', elsewhere, without)).toEqual([
      warning('F/agent', 'args: .', 'the place where .env is read'),
    ])
    expect(await warnings('args: [./notes]', elsewhere, without)).toEqual([])
  })

  test('is checked by its real path', async () => {
    expect(await warnings('args: [notes/link]')).toEqual([
      warning('F/agent', 'args: notes/link', 'the data directory and .env'),
    ])
  })

  test('causes a warning in serve and doctor too', async () => {
    const cwd = await tempFolder()
    await writeFile(
      join(cwd, 'agent.yaml'),
      `name: clerk\nmodel: { provider: demo }\ninstructions: Hi.\ntools:\n  - { type: mcp, name: files, command: ${process.execPath}, args: [., "${join(cwd, 'x')}"] }\n`,
    )
    const said = 'The MCP server files of clerk gets'
    const io = createTestIo({ cwd })
    const stopped = main(['serve', '--port', '0', '--log-level', 'silent'], io)
    await io.until('Ctrl-C')
    io.signal('SIGTERM')
    await stopped
    expect(io.complained()).toContain(`warning: ${said}`)

    const doctor = createTestIo({ cwd })
    await main(['doctor', '--port', '0'], doctor)
    expect(doctor.printed()).toContain(`warn  Config  ${said}`)
  })
})
