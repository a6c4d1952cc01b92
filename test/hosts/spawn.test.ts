import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { hosts, programOf } from './hosts.ts'
import { openYard } from './run-host.ts'
import { once, startScriptedModel } from './scripted-model.ts'

const claude = hosts.find(({ name }) => name === 'claude')
const program = claude === undefined ? null : programOf(claude)
const isHidden = import.meta.dirname.startsWith(tmpdir())
if (isHidden)
  process.stderr.write('Skipped: a host in bubblewrap does not see a checkout below the temporary files. Move it.\n')

describe.runIf(claude !== undefined && program !== null && !isHidden)('Claude Code that Quarterdeck starts', () => {
  /** Where bubblewrap is installed the host runs in it, so the hosts' cache must not be among the temporary files. A started host gets a scrubbed environment, so a script in front of it says where its model is. */
  async function open() {
    if (claude === undefined || program === null) throw new Error('Claude Code is not installed')
    const model = await startScriptedModel(once(claude.shell('echo proposed > out.txt')))
    onTestFinished(() => model.close())
    const base = join(homedir(), '.cache', 'quarterdeck')
    mkdirSync(base, { recursive: true, mode: 0o700 })
    const yard = await openYard(claude, {
      base,
      settings: ({ home, workspace }) => {
        const variables = Object.entries(claude.env(model.url)).map(([name, value]) => `export ${name}='${value}'\n`)
        writeFileSync(join(home, 'claude'), `#!/bin/sh\n${variables.join('')}exec '${program}' "$@"\n`)
        chmodSync(join(home, 'claude'), 0o755)
        return { host_cli: join(home, 'claude'), workspaces: [{ path: workspace }] }
      },
    })
    return { yard, model }
  }

  test.each(['with the hooks of its user', 'without hooks'])('asks once about a call, %s', async (how) => {
    const { yard: opened, model } = await open()
    await using yard = opened
    if (how === 'without hooks') rmSync(join(yard.home, '.claude', 'settings.json'))

    const started = await yard.supervisor.post('/sessions', { prompt: 'Go.', workspace: yard.workspace })
    expect(started).toMatchObject({ status: 201 })
    const asked = await yard.supervisor.decide({ decision: 'approve' })
    await expect.poll(() => yard.read('out.txt'), { timeout: 60_000 }).toBe('proposed\n')
    await expect.poll(() => model.results, { timeout: 60_000 }).toHaveLength(1)

    expect(asked).toMatchObject({ session_id: started.body.session_id, kind: 'permission' })
    expect(await yard.supervisor.approvals()).toHaveLength(1)
  })
})
