/** A pod that stands for one which its kubelet started from a file. */
export const mirrorAnnotation = 'kubernetes.io/config.mirror';
