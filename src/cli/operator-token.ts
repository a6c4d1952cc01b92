import { type Environment, variable } from '../config/source/env-file.ts'

/**
 * The token that a command of an operator sends, if the environment has it. A token of an identity provider says itself what its holder may
 * do, so it counts under either name.
 */
export function operatorTokenIn(env: Environment): string | undefined {
  const token = variable(env, 'QUARTERDECK_OPERATOR_TOKEN')
  if (token !== undefined) return token
  const users = variable(env, 'QUARTERDECK_TOKEN')
  return users !== undefined && /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(users) ? users : undefined
}
