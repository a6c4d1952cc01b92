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
    writeFileSync(join(folder, 'bin/claude'), '#!/bin/sh\n')
    chmodSync(join(folder, 'bin/claude'), 0o755)
    const code = { host_cli: 'claude' }
    const { supervision } = resolveSettings({ code, flags: {}, env: {}, file: null, onTerminal: false }).settings
    expect(await checkHost(supervision, join(folder, 'bin'))).toEqual([
      { name: 'Host', status: 'ok', detail: `${join(folder, 'bin/claude')}, started as claude` },
      {
        name: 'Sandbox',
        status: 'warn',
        detail: expect.stringMatching(/^Started agents can read and write everything that this user can: bubblewrap/),
        mend: expect.stringContaining('passphrase'),
      },
    ])
    expect(await checkHost(supervision, '/nowhere')).toMatchObject([{ name: 'Host', status: 'fail' }])
  })
})
