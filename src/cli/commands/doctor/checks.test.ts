import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { resolveSettings } from '../../../config/settings/resolve-settings.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { checkHost } from './checks.ts'

describe('doctor, about the host', () => {
  test('finds the program and says whether there is a sandbox', async () => {
    const folder = await tempFolder()
    mkdirSync(join(folder, 'bin'))
    writeFileSync(join(folder, 'bin/claude-agent-acp'), '#!/bin/sh\n')
    chmodSync(join(folder, 'bin/claude-agent-acp'), 0o755)
    const code = { host_cli: 'claude' }
    const { supervision } = resolveSettings({ code, flags: {}, env: {}, file: null, onTerminal: false }).settings
    expect(await checkHost(supervision, join(folder, 'bin'))).toEqual([
      { name: 'Host', status: 'ok', detail: `${join(folder, 'bin/claude-agent-acp')}, started as claude` },
      {
        name: 'Sandbox',
        status: 'fail',
        detail: expect.stringMatching(/^Coding agents are not started: bubblewrap/),
        mend: expect.stringContaining('apt-get install bubblewrap'),
      },
    ])
    expect(await checkHost(supervision, '/nowhere')).toMatchObject([
      { name: 'Host', status: 'fail', mend: expect.stringContaining('npm install -g @agentclientprotocol') },
    ])
  })
})
