import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { resolveSettings } from '../../../config/settings/resolve-settings.ts'
import type { Keychain } from '../../../operators/credentials/keychain.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { checkCredentials } from './credential-checks.ts'
import { checkHost } from './host-checks.ts'

const keychainWith = (values: Record<string, string>): Keychain => ({
  get: async (name) => ({ value: values[name] ?? null, problem: null }),
  set: async () => null,
})

describe('doctor, about Slack', () => {
  test('says where each credential comes from, which is missing, and which differ, but never a value', async () => {
    const env = { SLACK_APP_TOKEN: 'xapp-env', SLACK_TEAM_ID: 'T2' }
    const checks = await checkCredentials({ keychain: keychainWith({ slack_team_id: 'T1' }), env })
    expect(checks).toEqual([
      { name: 'Slack', status: 'ok', detail: 'slack_app_token comes from the environment' },
      { name: 'Slack', status: 'fail', detail: expect.stringContaining('The credential slack_bot_token is missing.') },
      {
        name: 'Slack',
        status: 'warn',
        detail: 'The keychain and SLACK_TEAM_ID have different values for slack_team_id; the keychain counts',
        mend: expect.stringContaining('Remove SLACK_TEAM_ID'),
      },
    ])
  })
})

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
