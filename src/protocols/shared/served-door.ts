import type { DescribedErrors } from '../../http/open-api/error-responses.ts'
import type { ErrorShape } from '../../http/problem.ts'
import type { Route } from '../../http/route.ts'

/** The code of a door. `Needs` is what it takes of the server. */
export interface ServedDoor<Needs> {
  /** First segments of paths, or whole ones (`/messages`). Whatever fails there answers in `errorShape`, also a route that does not exist. */
  segments: readonly string[]
  errorShape: ErrorShape
  /** What OpenAPI says about failures, by the tag of the routes. */
  errors: Readonly<Record<string, readonly DescribedErrors[]>>
  /** First segments of paths that only this door has: a request there loads the door, and nothing else. `agents/`: as in `RouteGroup`. */
  own: readonly string[]
  /** Loads its code. */
  routes(needs: Needs): Promise<Route[]>
}
