import type { Door, Role } from '../../http/route.ts'

/** What most routes of one door (null: always open) and one role begin with. */
export const routeHeads = <D extends Door | null, R extends Role>(door: D, role: R) =>
  ({
    get: { method: 'GET', door, role, body: 'none' },
    post: { method: 'POST', door, role, body: 'control' },
    patch: { method: 'PATCH', door, role, body: 'control' },
    del: { method: 'DELETE', door, role, body: 'none' },
  }) as const
