import { type ErrorShape, problemShape } from '../../http/problem.ts'

/**
 * A problem that repeats its detail as `message`, in first place. AG-UI clients show the body as plain text, and programs around them
 * look for `message`.
 */
export const agUiErrorShape: ErrorShape = (problem) => {
  const { message: _, ...rest } = problem
  return { ...problemShape(problem), body: { message: problem.detail, ...rest } }
}
