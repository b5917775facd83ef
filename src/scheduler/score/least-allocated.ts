import type { Score } from './score.ts';

/** Prefers the node of which the largest part, of CPU and memory alike, is left over. */
export const leastAllocated: Score = {
  name: 'NodeResourcesFit',
  weight: 1,
  rate: (pod, rooms) =>
    rooms.map((room) => {
      const cpu = partLeft(room.allocatable.get('cpu') ?? 0, room.guessed.cpu + pod.guessed.cpu);
      const memory = partLeft(room.allocatable.get('memory') ?? 0, room.guessed.memory + pod.guessed.memory);
      return Math.floor((cpu + memory) / 2);
    }),
};

function partLeft(whole: number, taken: number): number {
  return whole === 0 || taken > whole ? 0 : Math.floor(((whole - taken) * 100) / whole);
}
