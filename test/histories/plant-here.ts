import { plant } from "../simulation/planted/plant.ts";

// node --import plant-here.ts FILE   runs a file of the product with the bug of the variable PLANTED

plant(JSON.parse(process.env.PLANTED ?? ""));
