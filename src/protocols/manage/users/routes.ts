// Erasing users, for admins: nobody can take it back.

import { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'
import { USER_NAME, USER_NAME_TEXT } from '../../../domain/supervision/user-name.ts'
import { answer } from '../../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import { type Operators, refuseWithoutAdmin } from '../../../supervision/sessions/may-command.ts'
import { callerOf } from '../../shared/request/caller.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import { createEraseUser, type EraseDeps } from './erase-user.ts'
import { ErasedUserSchema } from './schema.ts'

interface UserRoutesDeps extends EraseDeps {
  operators: Operators
}

export function createUserRoutes({ operators, ...deps }: UserRoutesDeps): Route[] {
  const eraseUser = createEraseUser(deps)

  async function erase(request: Request, reply: Reply): Promise<void> {
    const by = callerOf(request)
    refuseWithoutAdmin(operators, by, 'erase a user')
    const { user = '' } = request.params
    if (!USER_NAME.test(user)) {
      const shown = JSON.stringify(user.slice(0, 200))
      throw new ServerError('invalid_request', `${shown} cannot be the name of a user. Send ${USER_NAME_TEXT}.`)
    }
    const erased = await eraseUser(user, by)
    request.log.info('a user was erased', { ...erased, left: erased.left.length })
    reply.json(200, erased)
  }

  return [
    {
      ...routeHeads(null, 'operator').del,
      path: '/users/:user',
      summary: 'Erase a user and everything that is kept under this name',
      describe: () => ({
        tag: 'Users',
        description:
          'For admins. Revokes tokens, signs devices and MCP servers out, removes push subscriptions and schedules, deletes all sessions as `DELETE /sessions/{id}` does, then what agents remember. The credential that asks stays, and so does the audit trail. May be repeated: what is gone counts 0. A token that is limited to scopes or to an agent erases nobody.',
        params: { user: z.string().describe('The exact name: `owner` of the sessions.') },
        responses: { 200: answer('What was removed, and what is left.', ErasedUserSchema) },
        errors: ['invalid_request', 'forbidden', 'storage_full', 'storage_failed'],
      }),
      handle: erase,
    },
  ]
}
