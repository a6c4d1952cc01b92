// For the people who command agents elsewhere: what these agents ask, and what becomes of their sessions.

import type { Route } from '../../../http/route.ts'
import { createRecordRoutes, type RecordRoutesDeps } from './record-routes.ts'
import { createSupervisedSessionRoutes, type SupervisedSessionRoutesDeps } from './session-routes.ts'
import { createWorkRoutes, type WorkRoutesDeps } from './work-routes.ts'

type SupervisionRoutesDeps = RecordRoutesDeps & SupervisedSessionRoutesDeps & WorkRoutesDeps

export const createSupervisionRoutes = (deps: SupervisionRoutesDeps): Route[] => [
  ...createRecordRoutes(deps),
  ...createSupervisedSessionRoutes(deps),
  ...createWorkRoutes(deps),
]
