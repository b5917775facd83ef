/** Of files whose mode nobody says; the API server fills it in too. */
export const DEFAULT_FILE_MODE = 0o644;
