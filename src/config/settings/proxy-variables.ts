import { type Environment, variable } from '../source/env-file.ts'

const names = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY', 'no_proxy', 'NO_PROXY'] as const

/** What the environment, or a `.env`, says about proxies. */
export function proxyVariables(env: Environment): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = variable(env, name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
