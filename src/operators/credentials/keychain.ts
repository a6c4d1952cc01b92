import { within } from '../../domain/abort.ts'
import type { Clock } from '../../domain/clock.ts'

/** The keychain of the operating system. Nothing here throws: where there is no keychain, `problem` says why. */
export interface Keychain {
  /** `value` is null if it has none. */
  get(name: string): Promise<{ value: string | null; problem: string | null }>
  /** The problem, or null when it is stored. */
  set(name: string, value: string): Promise<string | null>
}

const SERVICE = 'quarterdeck'
/** A locked keychain may ask the person to unlock it. A server without a person must not wait for that. */
const MAX_WAIT_MS = 10_000

/** The part of @napi-rs/keyring that is used. */
interface KeyringEntry {
  /** Null: there is none. */
  getPassword(): Promise<string | null>
  setPassword(value: string): Promise<unknown>
}
export type OpenEntry = (service: string, name: string) => KeyringEntry

/** `load` imports the native package: it is optional, and missing on systems that it was not built for. */
export function createKeychain(clock: Clock, load: () => Promise<OpenEntry> = loadKeyring): Keychain {
  async function ask<T>(name: string, work: (entry: KeyringEntry) => Promise<T>): Promise<T> {
    const open = await load()
    const given = await within(
      clock,
      MAX_WAIT_MS,
      work(open(SERVICE, name)).then((value) => ({ value })),
    )
    if (given === null) throw new Error('it does not answer; it may be locked')
    return given.value
  }

  return {
    async get(name) {
      try {
        const value = await ask(name, (entry) => entry.getPassword())
        return { value: value === '' ? null : value, problem: null }
      } catch (error) {
        return { value: null, problem: problemOf(error) }
      }
    },
    async set(name, value) {
      try {
        await ask(name, (entry) => entry.setPassword(value))
        return null
      } catch (error) {
        return problemOf(error)
      }
    },
  }
}

async function loadKeyring(): Promise<OpenEntry> {
  const { AsyncEntry } = await import('@napi-rs/keyring')
  return (service, name) => new AsyncEntry(service, name)
}

/** One line, without the stack of a native error. */
function problemOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return (message.split('\n')[0] ?? '').replace(/\.$/, '').slice(0, 200)
}
