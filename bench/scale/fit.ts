/** Least squares: the weights `w` for which `x · w` comes closest to `y`, relative to `y`, so that small costs count as much as large ones. */
export function fitPlane(points: readonly { x: readonly number[]; y: number }[]): number[] {
  const size = points[0]?.x.length ?? 0
  const matrix = Array.from({ length: size }, () => new Array<number>(size + 1).fill(0))
  for (const { x, y } of points) {
    const weight = 1 / (y * y)
    for (const [i, row] of matrix.entries()) {
      for (let j = 0; j < size; j += 1) row[j] = (row[j] ?? 0) + (x[i] ?? 0) * (x[j] ?? 0) * weight
      row[size] = (row[size] ?? 0) + (x[i] ?? 0) * y * weight
    }
  }
  return solve(matrix)
}

/** The straight line through the points. */
export function slope(points: readonly { x: number; y: number }[]): { at0: number; perUnit: number } {
  const [at0 = 0, perUnit = 0] = fitPlane(points.map(({ x, y }) => ({ x: [1, x], y })))
  return { at0, perUnit }
}

/** Gauss-Jordan, on a matrix with the right side as its last column. */
function solve(matrix: number[][]): number[] {
  const size = matrix.length
  for (let column = 0; column < size; column += 1) {
    const rows = [...matrix.keys()].slice(column)
    const best = rows.reduce((a, b) => (at(matrix, b, column) ** 2 > at(matrix, a, column) ** 2 ? b : a), column)
    const pivot = matrix[best] ?? []
    matrix[best] = matrix[column] ?? []
    matrix[column] = pivot
    for (const [i, row] of matrix.entries()) {
      if (i === column) continue
      const factor = at(matrix, i, column) / at(matrix, column, column)
      for (let j = column; j <= size; j += 1) row[j] = (row[j] ?? 0) - factor * (pivot[j] ?? 0)
    }
  }
  return matrix.map((_, i) => at(matrix, i, size) / at(matrix, i, i))
}

const at = (matrix: readonly (readonly number[])[], row: number, column: number): number => matrix[row]?.[column] ?? 0
