import type { Keychain } from '../keychain.ts'

/** A keychain that has these values. */
export function keychainWith(values: Readonly<Record<string, string>>): Keychain & { asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    async get(name) {
      asked.push(name)
      return { value: values[name] ?? null, problem: null }
    },
    set: async () => 'it cannot be written',
  }
}
