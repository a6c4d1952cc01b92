import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createSystemClock } from '../../../domain/clock.ts'
import { silentLogger } from '../../../domain/logger.ts'
import { launcherFor } from '../../../hosts/hosts.ts'
import { createProcessGroups } from '../../../tools/process/process-groups.ts'
import type { OutputPiece } from '../../commands/run-command.ts'
import { createChildRecords } from '../child-records.ts'
import type { HostDeps, HostRequest } from '../start-host.ts'

/** Folders of a server, and a host that is a shell script. */
export function spawnPlaces(script: string, { clock = createSystemClock(), base = tmpdir() } = {}) {
  const root = realpathSync(mkdtempSync(join(base, 'quarterdeck-spawn-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const at = (...parts: string[]) => join(root, ...parts)
  for (const folder of ['data', 'config', 'run', 'home/.cache', 'shop', 'bin'])
    mkdirSync(at(folder), { recursive: true })
  writeFileSync(at('bin/agent'), `#!/bin/sh\n${script}\n`)
  chmodSync(at('bin/agent'), 0o755)
  const lines: OutputPiece[] = []
  const respawns: number[] = []
  const waiting: { text: string; found: () => void }[] = []
  const records = createChildRecords(at('data'))
  const deps: HostDeps = {
    clock,
    log: silentLogger,
    processes: createProcessGroups({ clock, process }),
    records,
    environment: { PATH: '/usr/bin:/bin', HOME: at('home') },
    runtimeDir: at('run'),
    masked: [at('config'), at('run'), at('data')],
    home: at('home'),
    onOutput(line) {
      lines.push(line)
      for (const one of waiting) if (line.text.includes(one.text)) one.found()
    },
    onStart() {},
    onRespawn: ({ delayMs }) => void respawns.push(delayMs),
  }
  const request: HostRequest = {
    launcher: launcherFor('agent'),
    program: at('bin/agent'),
    extraArgs: ['--config', '{mcp_config}'],
    workspace: at('shop'),
    prompt: 'Do it.',
    agentToken: 'qd_secret-of-the-agent',
    mcpUrl: 'http://127.0.0.1:1/mcp',
    sessionId: '01SESSION',
    sandbox: null,
  }
  /** Resolves when a line with this text has come. */
  const printed = (text: string) =>
    new Promise<void>((found) => {
      if (lines.some((line) => line.text.includes(text))) found()
      else waiting.push({ text, found })
    })
  return { at, deps, request, records, lines, respawns, printed }
}
