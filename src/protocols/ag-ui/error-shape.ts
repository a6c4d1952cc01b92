import { type ErrorShape, problemShape } from '../../http/problem.ts'

/**
 * A problem that says its detail once more as `message`, and that first: AG-UI's clients show a body as the text that it is, and
 * programs around them look for that name.
 */
export const agUiErrorShape: ErrorShape = (problem) => {
  const { message: _, ...rest } = problem
  return { ...problemShape(problem), body: { message: problem.detail, ...rest } }
}
