export interface Dockerfile {
  stages: { image: string; name: string | null; lines: { instruction: string; rest: string }[] }[]
  /** What follows an instruction, in all stages, each with its continued lines joined. */
  instructions(name: string): string[]
}

/** Reads the part of the format that our Dockerfile uses: no here-documents, no directives. */
export function parseDockerfile(text: string): Dockerfile {
  const stages: Dockerfile['stages'] = []
  const whole = text.replace(/^#.*\n/gm, '').replaceAll('\\\n', ' ')
  for (const [, instruction = '', rest = ''] of whole.matchAll(/^([A-Z]+) +(.+)$/gm)) {
    if (instruction === 'FROM') {
      const [image = '', , name = null] = rest.split(/ +/)
      stages.push({ image, name, lines: [] })
    } else stages.at(-1)?.lines.push({ instruction, rest })
  }
  return {
    stages,
    instructions: (name) =>
      stages.flatMap(({ lines }) => lines.filter((line) => line.instruction === name).map(({ rest }) => rest)),
  }
}
