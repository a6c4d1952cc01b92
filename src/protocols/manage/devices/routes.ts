// Signing in to the console: one-time codes, devices and passkeys. For operators.

import type { Clock } from '../../../domain/clock.ts'
import type { ProgramWords } from '../../../domain/program-words.ts'
import type { Codes } from '../../../http/auth/console/codes.ts'
import type { Devices } from '../../../http/auth/console/devices.ts'
import type { Passkeys } from '../../../http/auth/console/passkeys.ts'
import type { Proofs } from '../../../http/auth/console/proofs.ts'
import type { WriteAudit } from '../../../http/auth/tokens/tokens.ts'
import type { CountTogether } from '../../../http/auth/usage-limits.ts'
import type { Route } from '../../../http/route.ts'
import type { Operators } from '../../../supervision/sessions/may-command.ts'
import {
  describeAddPasskey,
  describeChallenge,
  describeCode,
  describeDevices,
  describeMe,
  describePasskeyOptions,
  describePasskeys,
  describeRemovePasskey,
  describeRevokeDevice,
  describeSignIn,
  describeSignOut,
  describeWho,
} from './describe.ts'
import { createDeviceHandlers } from './device-handlers.ts'
import { createPasskeyHandlers } from './passkey-handlers.ts'
import { createSignIn } from './sign-in.ts'

export interface ConsoleSignIn {
  codes: Codes
  devices: Devices
  passkeys: Passkeys
  proofs: Proofs
}

export interface DeviceRoutesDeps extends ConsoleSignIn {
  audit: WriteAudit
  operators: Operators
  /** Where people open this server in a browser, without a slash at the end. */
  base: string
  /** The same, if the settings say it. */
  publicUrl: string | null
  about: {
    version: string
    program: ProgramWords
    /** The default agent. */
    agent: string | null
    /** Names of the operators. */
    operators: readonly string[]
  }
  clock: Clock
  /** Counts wrong codes with the other processes on the same store. Left out: there are none. */
  together?: Pick<CountTogether, 'windows'>
}

export function createDeviceRoutes(deps: DeviceRoutesDeps): Route[] {
  const devices = createDeviceHandlers(deps)
  const passkeys = createPasskeyHandlers(deps)
  const shared = { door: null, role: 'operator' } as const
  const read = { ...shared, method: 'GET', body: 'none' } as const
  const change = { ...shared, method: 'POST', body: 'control' } as const
  const end = { ...shared, method: 'DELETE', body: 'none' } as const
  return [
    {
      ...change,
      path: '/sign-in',
      // It is for those who have no token yet. A code or the operator's token is in the request.
      role: 'public',
      summary: 'Sign a browser in to the console',
      describe: describeSignIn,
      handle: createSignIn(deps),
    },
    {
      ...read,
      path: '/sign-in',
      role: 'public',
      summary: 'Whether somebody is signed in',
      describe: describeWho,
      handle: devices.who,
    },
    {
      ...change,
      path: '/sign-out',
      summary: 'Sign this device out',
      describe: describeSignOut,
      handle: devices.signOut,
    },
    { ...read, path: '/me', summary: 'Who you are', describe: describeMe, handle: devices.me },
    { ...read, path: '/devices', summary: 'List devices', describe: describeDevices, handle: devices.list },
    {
      ...end,
      path: '/devices/:id',
      summary: 'Sign a device out',
      describe: describeRevokeDevice,
      handle: devices.revoke,
    },
    {
      ...change,
      path: '/devices/codes',
      summary: 'Make a code for a new device',
      describe: describeCode,
      handle: devices.makeCode,
    },
    { ...read, path: '/passkeys', summary: 'List passkeys', describe: describePasskeys, handle: passkeys.list },
    {
      ...change,
      path: '/passkeys/options',
      summary: 'Ask for the options of a new passkey',
      describe: describePasskeyOptions,
      handle: passkeys.options,
    },
    { ...change, path: '/passkeys', summary: 'Add a passkey', describe: describeAddPasskey, handle: passkeys.add },
    {
      ...end,
      path: '/passkeys/:id',
      summary: 'Remove a passkey',
      describe: describeRemovePasskey,
      handle: passkeys.remove,
    },
    {
      ...change,
      // It brings what the decision will bring.
      body: 'edit',
      path: '/passkeys/challenges',
      summary: 'Ask for the options of a proof',
      describe: describeChallenge,
      handle: passkeys.challenge,
    },
  ]
}
